import Foundation
import Synchronization

/// A push service in Python, lent to one test; see `Tests/StandIns/Services`.
package final class StandIn: Sendable {
  private static let idle = Mutex<[String: [StandInProcess]]>([:])

  private let name: String
  private let service: StandInProcess
  private let isLent: Bool

  /// Takes a `<name>.py` that is idle, or starts one with a folder of its own; with an environment it ends afterwards.
  package init(_ name: String, environment: [String: String] = [:]) throws {
    self.name = name
    isLent = environment.isEmpty
    let idle = isLent ? Self.idle.withLock { $0[name]?.popLast() } : nil
    service = try idle ?? StandInProcess(name, environment: environment)
    try tell(["do": "reset"])
  }

  deinit {
    if isLent { Self.idle.withLock { $0[name, default: []].append(service) } }
  }

  /// The port of loopback that it listens on.
  package var port: Int { service.port }
  /// Its folder, with what a client needs to trust it and to be trusted.
  package var folder: String { service.folder }
  /// The PEM file of its certificate authority.
  package var certificates: String { folder + "/ca.pem" }
  /// Its address.
  package var url: String { "https://localhost:\(port)" }

  /// Gives it a command of its own, and what it answers.
  @discardableResult package func tell(_ command: [String: Any]) throws -> [String: Any] {
    try service.tell(command)
  }

  /// Sets what is answered, by device token (`*` for all others): steps in turn, the last stays.
  package func answer(_ rules: [String: [[String: Any]]]) throws {
    try tell(["do": "rules", "rules": rules])
  }
}

/// The process behind a stand-in; it ends when its standard input is closed.
///
/// Unchecked: one command at a time.
private final class StandInProcess: @unchecked Sendable {
  let port: Int
  let folder: String
  private let commands: FileHandle
  private let turn = Mutex<Void>(())
  private let answers: UnsafeMutablePointer<FILE>

  init(_ name: String, environment: [String: String]) throws {
    let scripts = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Services")
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "richpush-\(name)-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let (input, output) = (Pipe(), Pipe())
    _ = try StartedProgram(
      "/usr/bin/python3", [scripts.appending(path: name + ".py").path, folder],
      environment: ["PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"]
        .merging(environment) { $1 },
      input: input.fileHandleForReading, output: output.fileHandleForWriting)
    for end in [input.fileHandleForReading, output.fileHandleForWriting] { try end.close() }
    commands = input.fileHandleForWriting
    let descriptor = dup(output.fileHandleForReading.fileDescriptor)
    guard let answers = fdopen(descriptor, "r") else { throw StandInError.hasEnded }
    self.answers = answers
    let first = try Self.object(Self.readLine(answers))
    guard let port = first["port"] as? Int else { throw StandInError.hasEnded }
    self.port = port
  }

  func tell(_ command: [String: Any]) throws -> [String: Any] {
    let line = try JSONSerialization.data(withJSONObject: command) + Data("\n".utf8)
    let answer = try turn.withLock { _ in
      try commands.write(contentsOf: line)
      return Self.readLine(answers)
    }
    return try Self.object(answer)
  }

  /// The next line; empty when the process has ended.
  private static func readLine(_ file: UnsafeMutablePointer<FILE>) -> Data {
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    let count = getline(&line, &capacity, file)
    guard count > 0, let line else { return Data() }
    return Data(bytes: line, count: count)
  }

  private static func object(_ line: Data) throws -> [String: Any] {
    guard !line.isEmpty, let object = try JSONSerialization.jsonObject(with: line) as? [String: Any]
    else { throw StandInError.hasEnded }
    return object
  }
}

/// The stand-in says nothing any more, or nothing that can be understood.
enum StandInError: Error { case hasEnded }
