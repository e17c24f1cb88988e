import Foundation
import Glibc

/// A PostgreSQL server of a test's own, which `Services/postgres.sh` runs; it ends with this process, however that ends.
package final class PostgresServer: Sendable {
  /// Its folder, which has the socket and the data.
  package let folder: String
  /// The URL of its database.
  package let url: String
  private let lender: StartedProgram
  /// The server ends when this does, and its output when it has ended.
  private let (loan, output) = (Pipe(), Pipe())

  /// Whether a server is installed.
  package static var isInstalled: Bool {
    FileManager.default.fileExists(atPath: "/usr/lib/postgresql")
  }

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Services/postgres.sh")

  /// Makes a database and starts its server.
  package init() throws {
    // Short, because the path of a socket is.
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "pg-\(UInt32.random(in: .min ... .max))").path
    // A program that inherited it, such as a server that is started again, would keep the server.
    _ = fcntl(loan.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    lender = try StartedProgram(
      Self.script.path, [folder, "lend"], input: loan.fileHandleForReading,
      output: output.fileHandleForWriting)
    try output.fileHandleForWriting.close()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard line.hasSuffix("\n") else { throw StandInError.hasEnded }
    url = String(line.dropLast())
  }

  deinit {
    try? loan.fileHandleForWriting.close()
    _ = try? output.fileHandleForReading.readToEnd()
  }

  /// A way to its database that can be cut, and the URL of that.
  package func relay() throws -> (relay: SocketRelay, url: String) {
    let relay = try SocketRelay(".s.PGSQL.5432", to: folder)
    return (relay, url.replacing(folder, with: relay.folder))
  }

  /// Starts it again, and waits until it accepts connections.
  package func start() throws { try Self.run(Self.script.path, [folder, "start"]) }

  /// Ends it and all its connections.
  package func stop() throws { try Self.run(Self.script.path, [folder, "stop"]) }

  /// Ends it without its clean-up, as a crash does.
  package func crash() throws { try Self.run(Self.script.path, [folder, "crash"]) }

  /// Stops or continues all its processes, as a server does that hangs.
  package func signal(_ signal: Int32) throws {
    let first = try String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)
      .split(separator: "\n").first
    guard let first, let postmaster = pid_t(first) else { throw StandInError.hasEnded }
    let children = try String(
      contentsOfFile: "/proc/\(postmaster)/task/\(postmaster)/children", encoding: .utf8)
    for process in [postmaster] + children.split(separator: " ").compactMap({ pid_t($0) }) {
      kill(process, signal)
    }
  }

  /// Runs SQL and returns what psql prints.
  @discardableResult package func query(_ sql: String) throws -> String {
    try Self.run(Self.script.path, [folder, "query", sql])
  }

  private var data: String { folder + "/data" }

  /// Runs a program to its end and returns what it printed.
  @discardableResult
  private static func run(_ program: String, _ arguments: [String]) throws -> String {
    let ended = try StartedProgram.run(program, arguments)
    let text = String(decoding: ended.output, as: UTF8.self)
    guard ended.exitCode == 0 else {
      print("PostgresServer: \(program) \(arguments): \(text)")
      throw StandInError.hasEnded
    }
    return text.trimmingCharacters(in: .newlines)
  }
}
