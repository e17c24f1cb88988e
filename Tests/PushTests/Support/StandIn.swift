import Foundation
import Synchronization
import Testing

/// A push service in Python, lent to one test; see `Tests/PushTests/StandIns`.
final class StandIn {
  private static let idle = Mutex<[String: [StandInProcess]]>([:])

  private let name: String
  private let service: StandInProcess

  /// Takes a `<name>.py` that is idle, or starts one with a folder of its own.
  init(_ name: String) throws {
    self.name = name
    service = try Self.idle.withLock { $0[name]?.popLast() } ?? StandInProcess(name)
    try tell(["do": "reset"])
  }

  deinit {
    Self.idle.withLock { $0[name, default: []].append(service) }
  }

  var port: Int { service.port }
  var folder: String { service.folder }
  var certificates: String { folder + "/ca.pem" }
  var url: String { "https://localhost:\(port)" }

  @discardableResult func tell(_ command: [String: Any]) throws -> [String: Any] {
    try service.tell(command)
  }

  /// Sets what is answered, by device token (`*` for all others): steps in turn, the last stays.
  func answer(_ rules: [String: [[String: Any]]]) throws {
    try tell(["do": "rules", "rules": rules])
  }
}

/// The process behind a stand-in; it ends when its standard input is closed.
///
/// Unchecked: one test has it at a time.
private final class StandInProcess: @unchecked Sendable {
  let port: Int
  let folder: String
  private let process = Process()
  private let commands = Pipe()
  private let answers: UnsafeMutablePointer<FILE>

  init(_ name: String) throws {
    let scripts = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "StandIns")
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "richpush-\(name)-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = [scripts.appending(path: name + ".py").path, folder]
    process.environment = ["PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"]
    process.standardInput = commands
    process.standardOutput = output
    try process.run()
    answers = try #require(fdopen(dup(output.fileHandleForReading.fileDescriptor), "r"))
    let first = try Self.readObject(answers)
    port = try #require(first["port"] as? Int)
  }

  func tell(_ command: [String: Any]) throws -> [String: Any] {
    let line = try JSONSerialization.data(withJSONObject: command) + Data("\n".utf8)
    try commands.fileHandleForWriting.write(contentsOf: line)
    return try Self.readObject(answers)
  }

  private static func readObject(_ file: UnsafeMutablePointer<FILE>) throws -> [String: Any] {
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    let count = getline(&line, &capacity, file)
    let text = try #require(count > 0 ? line : nil, "The stand-in has ended.")
    let data = Data(bytes: text, count: count)
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }
}
