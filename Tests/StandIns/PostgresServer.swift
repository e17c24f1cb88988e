import Foundation
import Glibc

/// A PostgreSQL server of a test's own, from Debian's package `postgresql-15`, on a socket in a temporary folder.
package final class PostgresServer: Sendable {
  /// The superuser.
  private static let user = "richpush"
  private static let port = 5432

  /// Its folder, which has the socket and the data.
  package let folder: String
  private let programs: String

  /// Whether a server is installed.
  package static var isInstalled: Bool { programs != nil }

  private static let programs = try? FileManager.default
    .contentsOfDirectory(atPath: "/usr/lib/postgresql").sorted().last
    .map { "/usr/lib/postgresql/\($0)/bin" }

  /// Makes a database and starts its server.
  package init() throws {
    guard let programs = Self.programs else { throw StandInError.hasEnded }
    self.programs = programs
    // Short, because the path of a socket is.
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "pg-\(UInt32.random(in: .min ... .max))").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // The server refuses to run as root.
    if getuid() == 0 { try Self.run("/bin/chown", ["postgres", folder]) }
    try runAsOwner(
      "initdb",
      ["-D", data, "-A", "trust", "-U", Self.user, "--no-sync", "-E", "UTF8", "--locale=C"])
    try start()
  }

  deinit {
    try? stop()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The URL of its database.
  package var url: String { url(in: folder) }

  private func url(in folder: String) -> String {
    "postgres://\(Self.user)@/postgres?host=\(folder)&port=\(Self.port)"
  }

  /// A way to its database that can be cut, and the URL of that.
  package func relay() throws -> (relay: SocketRelay, url: String) {
    let relay = try SocketRelay(".s.PGSQL.\(Self.port)", to: folder)
    return (relay, url(in: relay.folder))
  }

  /// Starts it, and waits until it accepts connections.
  package func start() throws {
    try runAsOwner(
      "pg_ctl",
      [
        "-D", data, "-l", folder + "/log", "-w", "-o",
        "-k \(folder) -p \(Self.port) -c listen_addresses='' -c fsync=off -c max_connections=400",
        "start",
      ])
  }

  /// Ends it and all its connections.
  package func stop() throws {
    try runAsOwner("pg_ctl", ["-D", data, "-m", "fast", "-w", "stop"])
  }

  /// Ends it without its clean-up, as a crash does.
  package func crash() throws {
    try runAsOwner("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"])
  }

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
    try runAsOwner("psql", ["-XAtq", "-d", url, "-c", sql])
  }

  private var data: String { folder + "/data" }

  @discardableResult
  private func runAsOwner(_ program: String, _ arguments: [String]) throws -> String {
    let words = ["\(programs)/\(program)"] + arguments
    if getuid() != 0 { return try Self.run(words[0], arguments) }
    return try Self.run("/sbin/runuser", ["-u", "postgres", "--"] + words)
  }

  /// Runs a program to its end and returns what it printed.
  ///
  /// Not with `Process`, which waits for everybody who has inherited its descriptors, such as the server.
  @discardableResult
  private static func run(_ program: String, _ arguments: [String]) throws -> String {
    let output = FileManager.default.temporaryDirectory
      .appending(path: "pg-output-\(UInt32.random(in: .min ... .max))").path
    defer { try? FileManager.default.removeItem(atPath: output) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    let environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"]
    let argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    let envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
    defer { for string in argv + envp { free(string) } }
    var (child, status): (pid_t, Int32) = (0, 0)
    guard posix_spawn(&child, program, &actions, nil, argv, envp) == 0 else {
      throw StandInError.hasEnded
    }
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
    guard status == 0 else {
      print("PostgresServer: \(program) \(arguments): \(text)")
      throw StandInError.hasEnded
    }
    return text.trimmingCharacters(in: .newlines)
  }
}
