import Foundation
import Synchronization

/// A program while it runs, one of ours or one with a whole path: its lines, its end.
final class Child: Sendable {
  /// What a program left behind.
  struct Result: Sendable {
    let exitCode: Int32
    let output: [String]
    let errors: String
  }

  let lines: AsyncStream<String>
  private let process: Process
  private let errorFile: URL
  private let scratch: Scratch

  /// Starting a child while another's pipe is half set up hands it the pipe: one at a time.
  private static let spawning = Mutex(())

  init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    input: String? = nil, inputBytes: [UInt8] = []
  ) throws {
    let scratch = try Scratch()
    let process = Process()
    process.executableURL =
      program.hasPrefix("/") ? URL(filePath: program) : try Package.program(program)
    process.arguments = arguments
    process.environment = ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }
    process.currentDirectoryURL = scratch.folder
    let errorFile = try scratch.drop([], as: "errors")
    process.standardError = try FileHandle(forWritingTo: errorFile)
    let inputFile = try scratch.drop(input.map { Array($0.utf8) } ?? inputBytes, as: "input")
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    let output = try Self.spawning.withLock { _ in
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
  func exitCode() async -> Int32 {
    await withCheckedContinuation { continuation in
      // waitUntilExit must not run on the main thread, nor hold one of Swift's few.
      Thread.detachNewThread { [process] in
        process.waitUntilExit()
        let code = process.terminationStatus
        continuation.resume(returning: process.terminationReason == .exit ? code : -code)
      }
    }
  }

  /// Runs a program to its end.
  static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    input: String? = nil, inputBytes: [UInt8] = []
  ) async throws -> Result {
    let child = try Child(
      program, arguments, environment: environment, input: input, inputBytes: inputBytes)
    var output: [String] = []
    for await line in child.lines { output.append(line) }
    return Result(exitCode: await child.exitCode(), output: output, errors: child.errors)
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
