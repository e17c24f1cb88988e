import Dispatch
import Foundation
import Primitives

/// A program that a command of the command line starts: `pg_dump`, a compiler, a viewer of pictures.
///
/// No signal is blocked or ignored in it, which `richpush-exec` sees to.
package struct Program {
  private let launcher: String
  private let words: [String]
  private let environment: [String: String]

  /// Describes a program by its path; `launcher` is the path of `richpush-exec`.
  package init(
    _ path: String, _ arguments: [String], environment: [String: String], launcher: String
  ) {
    (self.launcher, words) = (launcher, [path] + arguments)
    self.environment = environment
  }

  /// Runs the program in the foreground, where it may use the terminal and its keys reach it, and waits for its end.
  ///
  /// - Returns: Its exit status, 127 if there is no such program; nil if a signal ended it.
  /// - Throws: ``PluginError/Code/busy`` if `richpush-exec` cannot be started.
  package func run() throws(PluginError) -> Int32? {
    let process = try started("foreground")
    let end = DispatchSemaphore(value: 0)
    wait(for: process) { end.signal() }
    end.wait()
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }

  /// Starts the program in the background: its output is discarded, and the terminal's Ctrl-C does not reach it.
  ///
  /// - Throws: ``PluginError/Code/busy`` if `richpush-exec` cannot be started.
  package func start() throws(PluginError) {
    wait(for: try started("background") { $0.standardOutput = FileHandle.nullDevice }) {}
  }

  private func started(
    _ place: String, _ configure: (Process) -> Void = { _ in }
  ) throws(PluginError) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: launcher)
    process.arguments = [place] + words
    process.environment = environment
    // `Process` goes to the current folder by its path, and starts nothing if that is forbidden, as in root's home to
    // the owner of a data folder. From there no relative path leads anywhere either.
    if access(".", X_OK) != 0 { process.currentDirectoryURL = URL(filePath: "/") }
    configure(process)
    guard (try? process.run()) != nil else { throw .busy("\(launcher) cannot be started.") }
    return process
  }

  /// Waits on another thread: on the main one `waitUntilExit` takes 50 ms, and without it what belongs to the process
  /// is never released.
  private func wait(for process: Process, then body: @escaping @Sendable () -> Void) {
    DetachedThread.start(named: "child") {
      process.waitUntilExit()
      body()
    }
  }
}
