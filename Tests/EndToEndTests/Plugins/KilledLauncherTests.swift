import Foundation
import RichPushClient
import Testing
import Waiting

/// The processes that start plugins are killed while calls wait for them.
@Suite(.timeLimit(.minutes(5))) struct KilledLauncherTests {
  /// Idle connections, which another process holds: this one starts programs, too.
  private struct Crowd {
    private var children: [Child] = []
    private static let program = """
      import resource, signal, socket, sys
      port, count = map(int, sys.argv[1:])
      most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
      resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
      held = []
      for _ in range(count):
          held.append(socket.create_connection(("127.0.0.1", port)))
          held[-1].sendall(b"GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
          held[-1].recv(1)
      print("connected", flush=True)
      signal.pause()
      """

    /// Connects until the server has so many descriptors.
    mutating func grow(until count: Int, of server: RunningServer) async throws {
      // It may close one meanwhile that belonged to a call.
      while case let present = try #require(ProcessFacts(server.processIdentifier)).descriptors,
        present < count
      {
        let child = try Child(
          "/usr/bin/python3", ["-c", Self.program, "\(server.port)", "\(count - present)"])
        var lines = child.lines.makeAsyncIterator()
        try #require(await lines.next() == "connected", "\(child.errors)")
        children.append(child)
      }
    }
  }

  /// Replaces the plugin by another version, whose next calls need processes that the launcher starts.
  private static func install(version: Int, in scratch: Scratch) throws {
    try scratch.drop(
      Array((Bystander.plugin + "# \(version)\n").utf8), as: "plugins/good", executable: true)
  }

  private static func lend(to body: (RunningServer) async throws -> Void) async throws {
    try await RunningServer.lend(prepare: { try install(version: 0, in: $0) }, to: body)
  }

  private static func target(on server: RunningServer) async throws -> String {
    let made = try await server.client("alice").create(
      NewNotification("m", richType: "good", payload: "x", to: .users(["alice"])))
    return "/api/notifications/\(made.id)"
  }

  /// At some of these numbers Foundation's `Process` crashes.
  @Test func `plugins go on in a server with 1,340 to 1,380 descriptors`() async throws {
    try await Self.lend { server in
      var targets: [String] = []
      for _ in 0..<4 { targets.append(try await Self.target(on: server)) }
      let connections = try targets.map { _ in try RawConnection(port: server.port) }
      var launcher = try Launcher(of: server)
      var crowd = Crowd()
      for count in stride(from: 1_340, through: 1_380, by: 2) {
        try await crowd.grow(until: count, of: server)
        try Self.install(version: count, in: server.scratch)
        let isFirst = count.isMultiple(of: 4)
        let calls = 5
        for (connection, target) in zip(connections, targets) {
          for _ in 0..<calls { connection.ask("GET", target) }
        }
        try await launcher.kill(isFirst: isFirst)
        for connection in connections {
          for _ in 0..<calls {
            let answer = try connection.answer()
            #expect(answer.status == 200, "\(count): \(answer.text) \(server.log)")
          }
        }
      }
      try await server.expectHealthy()
    }
  }

  @Test func `what starts plugins ends with the server and not before`() async throws {
    var launcher: Launcher?
    try await Self.lend { server in
      var present = try Launcher(of: server)
      try await present.kill(isFirst: true)
      for signal in [SIGTERM, SIGINT, SIGHUP] {
        for process in [present.first, present.second] { kill(process, signal) }
      }
      let connection = try RawConnection(port: server.port)
      try Self.install(version: 1, in: server.scratch)
      connection.ask("GET", try await Self.target(on: server))
      #expect(try connection.answer().status == 200)
      for process in [present.first, present.second] {
        #expect(ProcessFacts(process)?.state == "S")
      }
      launcher = present
    }
    let processes = try #require(launcher.map { [$0.first, $0.second] })
    try await eventually("both have ended") {
      processes.allSatisfy { [nil, "Z"].contains(ProcessFacts($0)?.state) }
    }
  }

  @Test func `a server whose launcher was killed altogether says so, and serves on`()
    async throws
  {
    try await Self.lend { server in
      let target = try await Self.target(on: server)
      try Launcher(of: server).killBoth()
      try Self.install(version: 1, in: server.scratch)
      // Calls of the version before may go on for a moment.
      var last: RawConnection.Answer?
      try await eventually("calls are refused, not \(last?.text ?? "")") {
        let connection = try RawConnection(port: server.port)
        connection.ask("GET", target)
        last = try connection.answer()
        return last?.status == 503 && last?.fields["retry-after"] != nil
      }
      try await eventually("the log says so") { server.log.contains("restart the server") }
      #expect(try server.get("/healthz").status == 200)
    }
  }
}
