import Dispatch
import Foundation
import Synchronization

/// A program while it runs, one of ours or one with a whole path: its lines, its end.
///
/// It is killed with this process, also when that crashes.
final class Child: Sendable {
  /// What a program left behind.
  struct Result: Sendable {
    let exitCode: Int32
    let output: [String]
    let errors: String
  }

  let lines: AsyncStream<String>
  private let process: Process
  private let end = ChildEnd()
  private let errorFile: URL
  private let scratch: Scratch

  /// Starts every child, one at a time: a child started while another's pipe is half set up inherits the pipe.
  ///
  /// The kernel kills a child when the thread that started it ends, which those of the pool do.
  private static let starter = Starter()

  init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    input: String? = nil, inputBytes: [UInt8] = []
  ) throws {
    let scratch = try Scratch()
    let process = Process()
    let path = program.hasPrefix("/") ? program : try Package.program(program).path
    process.executableURL = URL(filePath: "/usr/bin/setpriv")
    process.arguments = ["--pdeathsig", "KILL", "--", path] + arguments
    process.environment = ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }
    process.currentDirectoryURL = scratch.folder
    process.terminationHandler = { [end] process in
      let code = process.terminationStatus
      end.come(with: process.terminationReason == .exit ? code : -code)
    }
    let errorFile = try scratch.drop([], as: "errors")
    process.standardError = try FileHandle(forWritingTo: errorFile)
    let inputFile = try scratch.drop(input.map { Array($0.utf8) } ?? inputBytes, as: "input")
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    let output = try Self.starter.run {
      let pipe = Pipe()
      process.standardOutput = pipe
      try process.run()
      return pipe.fileHandleForReading
    }
    (self.process, self.errorFile, self.scratch) = (process, errorFile, scratch)
    lines = Self.lines(of: output)
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  var processIdentifier: Int32 { process.processIdentifier }

  /// What it has written to standard error so far.
  var errors: String { (try? String(contentsOf: errorFile, encoding: .utf8)) ?? "" }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits for the end; the exit code, or minus the signal that ended it.
  func exitCode() async -> Int32 { await end.exitCode() }

  /// Kills it with all its descendants, which may hold its output open.
  func killAll() {
    for process in ProcessFacts.family(of: process.processIdentifier) { kill(process.pid, SIGKILL) }
  }

  /// Runs a program to its end, which is forced after a time limit, or when the test's is over.
  ///
  /// - Throws: `TimeLimitReached` if it was.
  static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    input: String? = nil, inputBytes: [UInt8] = [], limit: Duration = .seconds(200)
  ) async throws -> Result {
    let child = try Child(
      program, arguments, environment: environment, input: input, inputBytes: inputBytes)
    let timer = Task.detached {
      try await Task.sleep(for: limit)
      child.killAll()
      throw TimeLimitReached(program: program, arguments: arguments)
    }
    let result = await withTaskCancellationHandler {
      var output: [String] = []
      for await line in child.lines { output.append(line) }
      return Result(exitCode: await child.exitCode(), output: output, errors: child.errors)
    } onCancel: {
      child.killAll()
    }
    timer.cancel()
    if case .failure(let error as TimeLimitReached) = await timer.result { throw error }
    try Task.checkCancellation()
    return result
  }

  /// The arguments of script(1) that run a program at a terminal, which is so wide; it is killed with `script`.
  static func terminal(_ words: [String], columns: Int = 0) -> [String] {
    let width = columns > 0 ? "stty cols \(columns); " : ""
    let line = words.map { "'\($0)'" }.joined(separator: " ")
    return ["-qefc", width + "exec /usr/bin/setpriv --pdeathsig KILL -- " + line, "/dev/null"]
  }

  /// A program that had to be killed.
  struct TimeLimitReached: Error {
    let program: String
    let arguments: [String]
  }

  private static func lines(of file: FileHandle) -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      var rest = Data()
      while case let piece = file.availableData, !piece.isEmpty {
        rest += piece
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[rest.index(after: end)...])
        }
      }
      if !rest.isEmpty { continuation.yield(String(decoding: rest, as: UTF8.self)) }
      continuation.finish()
    }
    return lines
  }
}

/// The end of a program, which any number may wait for; `waitUntilExit` occupies a processor meanwhile.
private final class ChildEnd: Sendable {
  private struct State {
    var exitCode: Int32?
    var waiting: [CheckedContinuation<Int32, Never>] = []
  }

  private let state = Mutex(State())

  func come(with exitCode: Int32) {
    let waiting = state.withLock { state in
      state.exitCode = exitCode
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: exitCode) }
  }

  func exitCode() async -> Int32 {
    await withCheckedContinuation { continuation in
      let exitCode = state.withLock { state in
        if state.exitCode == nil { state.waiting.append(continuation) }
        return state.exitCode
      }
      if let exitCode { continuation.resume(returning: exitCode) }
    }
  }
}

/// A thread that lasts as long as the process and runs one closure after another.
private final class Starter: Sendable {
  private let waiting = Mutex<[@Sendable () -> Void]>([])
  private let arrived = DispatchSemaphore(value: 0)

  init() {
    Thread.detachNewThread { [self] in
      while true {
        arrived.wait()
        waiting.withLock { $0.removeFirst() }()
      }
    }
  }

  /// Runs the closure on the thread, and waits for it.
  func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
    let result = Mutex<Result<R, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    waiting.withLock {
      $0.append {
        let outcome = Result { try body() }
        result.withLock { $0 = outcome }
        done.signal()
      }
    }
    arrived.signal()
    done.wait()
    guard let outcome = result.withLock({ $0 }) else { throw CancellationError() }
    return try outcome.get()
  }
}
