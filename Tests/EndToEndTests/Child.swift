import Foundation
import StandIns
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
  private let program: StartedProgram
  private let errorFile: URL
  private let scratch: Scratch
  /// How many lines `run` has read.
  private let heard = Mutex(0)

  init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    input: String? = nil, inputBytes: [UInt8] = []
  ) throws {
    let scratch = try Scratch()
    let path = program.hasPrefix("/") ? program : try Package.program(program).path
    let errorFile = try scratch.drop([], as: "errors")
    let inputFile = try scratch.drop(input.map { Array($0.utf8) } ?? inputBytes, as: "input")
    let pipe = Pipe()
    self.program = try StartedProgram(
      "/usr/bin/setpriv", ["--pdeathsig", "KILL", "--", path] + arguments,
      environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 },
      folder: scratch.folder.path, input: try FileHandle(forReadingFrom: inputFile),
      output: pipe.fileHandleForWriting, errors: try FileHandle(forWritingTo: errorFile))
    try pipe.fileHandleForWriting.close()
    (self.errorFile, self.scratch) = (errorFile, scratch)
    lines = Self.lines(of: pipe.fileHandleForReading)
  }

  deinit { send(SIGKILL) }

  var processIdentifier: Int32 { program.pid }

  /// What it has written to standard error so far.
  var errors: String { (try? String(contentsOf: errorFile, encoding: .utf8)) ?? "" }

  func send(_ signal: Int32) { program.send(signal) }

  /// Waits for the end; the exit code, or minus the signal that ended it.
  func exitCode() async -> Int32 { await program.exitCode() }

  /// Kills it with all its descendants, which may hold its output open.
  func killAll() {
    for process in ProcessFacts.family(of: program.pid) { kill(process.pid, SIGKILL) }
  }

  /// Runs a program to its end, which is forced when it has written nothing for so long, or when the test's time is over.
  ///
  /// What takes longer prints what it has done: then a slow machine is no failure, and what hangs is still noticed.
  ///
  /// - Throws: `FellSilent` if it was.
  static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    input: String? = nil, inputBytes: [UInt8] = [], silence: Duration = .seconds(200)
  ) async throws -> Result {
    let child = try Child(
      program, arguments, environment: environment, input: input, inputBytes: inputBytes)
    let timer = Task.detached {
      var (written, end) = (0, ContinuousClock.now + silence)
      while .now < end {
        try await Task.sleep(for: min(silence, .seconds(1)))
        if case let now = child.written, now != written {
          (written, end) = (now, .now + silence)
        }
      }
      child.killAll()
    }
    let result = await withTaskCancellationHandler {
      var output: [String] = []
      for await line in child.lines {
        output.append(line)
        child.heard.withLock { $0 += 1 }
      }
      return Result(exitCode: await child.exitCode(), output: output, errors: child.errors)
    } onCancel: {
      child.killAll()
    }
    timer.cancel()
    // One that was cancelled ends with an error.
    if case .success = await timer.result {
      throw FellSilent(program: program, arguments: arguments, result: result)
    }
    try Task.checkCancellation()
    return result
  }

  /// The arguments of script(1) that run a program at a terminal, which is so wide; it is killed with `script`.
  static func terminal(_ words: [String], columns: Int = 0) -> [String] {
    let width = columns > 0 ? "stty cols \(columns); " : ""
    let line = words.map { "'\($0)'" }.joined(separator: " ")
    return ["-qefc", width + "exec /usr/bin/setpriv --pdeathsig KILL -- " + line, "/dev/null"]
  }

  /// Grows with each line of output, and with what is written to standard error.
  private var written: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: errorFile.path)
    return heard.withLock { $0 } + (attributes?[.size] as? Int ?? 0)
  }

  /// A program that had to be killed, with what it had said until then.
  struct FellSilent: Error {
    let program: String
    let arguments: [String]
    let result: Result
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
