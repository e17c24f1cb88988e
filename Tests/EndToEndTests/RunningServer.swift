import Foundation
import RichPushClient
import Synchronization
import Testing

/// The real `richpush serve --demo` on a port of its own, with folders of its own.
final class RunningServer: Sendable {
  let scratch: Scratch
  private let state: Mutex<(child: Child, port: Int, programs: URL?)>
  /// Nobody else gets the port between the end of the server and its next start.
  private let reservedPort: ReservedPort

  var port: Int { state.withLock { $0.port } }
  var endpoint: URL { URL(string: "\(scheme)://127.0.0.1:\(port)") ?? Package.root }
  private var scheme: String { flags.contains("--tls-certificate") ? "https" : "http" }
  private var child: Child { state.withLock { $0.child } }
  /// The process, since its last start.
  var processIdentifier: Int32 { child.processIdentifier }
  /// What it logged since its last start.
  var log: String { child.errors }

  /// Starts a server, lends it to the body, and expects it to end cleanly afterwards.
  static func lend(
    flags: [String] = ["--demo"], environment: [String: String] = [:],
    unprivileged: Bool = false, through wrapper: [String] = [], programs: URL? = nil,
    prepare: (Scratch) async throws -> Void = { _ in },
    to body: (RunningServer) async throws -> Void
  ) async throws {
    let scratch = try Scratch()
    try scratch.dropSamples()
    for name in ["img", "sound", "url"] {
      let path = "plugins/\(name)/plugin.json"
      try scratch.drop(Package.bytes(path), as: path)
    }
    try await prepare(scratch)
    let isRoot = unprivileged && getuid() == 0
    if isRoot { _ = try await Child.run("/bin/chown", ["-R", "65534:65534", scratch.folder.path]) }
    let server = try await RunningServer(
      scratch: scratch, flags: flags, environment: environment,
      wrapper: isRoot ? asNobody : wrapper, programs: programs)
    try await body(server)
    server.child.send(SIGTERM)
    let exitCode = await server.child.exitCode()
    #expect(exitCode == 0, "SIGTERM ended the server with \(exitCode): \(server.log)")
  }

  private let flags: [String]
  private let environment: [String: String]
  /// The program that starts the server, with its arguments; empty where it is started as it is.
  private let wrapper: [String]
  private static let asNobody =
    // Another user's process has to ask once more to end with its parent.
    ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    + ["--pdeathsig", "KILL"]

  private init(
    scratch: Scratch, flags: [String], environment: [String: String], wrapper: [String],
    programs: URL?
  ) async throws {
    (self.scratch, self.flags, self.environment) = (scratch, flags, environment)
    self.wrapper = wrapper
    reservedPort = try ReservedPort()
    let (child, port) = try await Self.start(
      scratch, flags: flags, environment: environment, wrapper: wrapper, programs: programs,
      port: reservedPort.number)
    // The folder of `richpush` and what it starts; nil for the one they were built in.
    state = Mutex((child, port, programs))
  }

  /// Sends the server a signal.
  func send(_ signal: Int32) { child.send(signal) }

  /// Ends the server by a signal and starts it again on the same port and data, perhaps with other flags or the
  /// programs that were built, and after something that is done without it.
  ///
  /// - Returns: When the new one was started.
  @discardableResult
  func restart(
    by signal: Int32, flags: [String]? = nil, isUpgrade: Bool = false,
    after body: () async throws -> Void = {}
  ) async throws -> ContinuousClock.Instant {
    child.send(signal)
    let exitCode = await child.exitCode()
    #expect(exitCode == (signal == SIGTERM ? 0 : -signal), "\(log)")
    try await body()
    let begin = ContinuousClock.now
    let programs = isUpgrade ? nil : state.withLock { $0.programs }
    let (child, port) = try await Self.start(
      scratch, flags: flags ?? self.flags, environment: environment, wrapper: wrapper,
      programs: programs, port: port)
    state.withLock { $0 = (child, port, programs) }
    return begin
  }

  private static func start(
    _ scratch: Scratch, flags: [String], environment: [String: String], wrapper: [String],
    programs: URL?, port: Int
  ) async throws -> (Child, Int) {
    let folder = scratch.folder.path
    let program = try (programs?.appending(path: "richpush") ?? Package.program("richpush")).path
    let through = wrapper.isEmpty ? [] : wrapper.dropFirst() + [program]
    let child = try Child(
      wrapper.first ?? program,
      through + ["serve", "--listen", "127.0.0.1:\(port)", "--data", folder + "/var"]
        + ["--assets", folder + "/assets", "--plugins", folder + "/plugins"] + flags,
      environment: environment)
    var lines = child.lines.makeAsyncIterator()
    let line = await lines.next() ?? ""
    let found = try #require(
      line.wholeMatch(of: #/richpush: listening on https?://127\.0\.0\.1:(\d+)/#),
      "first line: '\(line)', log: \(child.errors)")
    return (child, try #require(Int(found.1)))
  }

  /// The API as a user; one of the demonstration's has the name as password.
  func client(_ user: String, password: String? = nil) -> RichPushClient {
    RichPushClient(endpoint: endpoint, user: user, password: password ?? user)
  }

  /// The server is well: it says so, and still makes pictures.
  func expectHealthy() async throws {
    let health = try RawConnection(port: port).exchange("GET /healthz HTTP/1.1\r\n")
    #expect(health.status == 200)
    let bob = client("bob")
    let notification = try await bob.create(.logo(to: "bob"))
    let media = try await bob.media(notification.id, options: MediaOptions(width: 96))
    #expect(media.contentType == "image/png")
  }
}

extension NewNotification {
  /// The sample picture, for one user.
  static func logo(to user: String, _ message: String = "Look") -> NewNotification {
    NewNotification(
      NotificationMessage(message), richType: "img", payload: "logo.png", to: .users([user]))
  }
}

/// Repeats what has a limit of time, three times at most, until it was in time: a busy machine may hold any process up
/// for seconds.
///
/// - Returns: The first value that is good, or the last one, for the test to judge.
func repeatedly<Value>(
  until isGood: (Value) -> Bool, _ attempt: () async throws -> Value
) async throws -> Value {
  for _ in 0..<2 {
    let value = try await attempt()
    if isGood(value) { return value }
    print("repeated: \(value)")
  }
  return try await attempt()
}
