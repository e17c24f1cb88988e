import Foundation
import RichPushClient
import Synchronization
import Testing
import Waiting

/// Clients that hold connections as long as they can (slowhttptest of Debian).
@Suite(.timeLimit(.minutes(10))) struct SlowClientsSoakTests {
  @Test(arguments: ["-H", "-B", "-X"])
  func `thousands of slow clients keep nobody out`(mode: String) async throws {
    let flags = ["--demo", "--connections-per-address", "4000"]
    try await RunningServer.lend(flags: flags) { server in
      let alice = server.client("alice")
      _ = try await alice.create(.logo(to: "alice"))
      let count = Soak.amount(short: 300, long: 3000)
      let lines = try await Self.attack(server, mode, count) {
        let media = try await alice.media(0)
        #expect(media.contentType == "image/png")
      }
      for line in lines where line.contains("service available") { #expect(line.contains("YES")) }
      try await eventually("their connections are closed") {
        try server.measured("richpush_http_connections") < 10
      }
    }
  }

  @Test func `an address that has all it may have keeps nobody else out`() async throws {
    let flags = ["--demo", "--connections-per-address", "100"]
    try await RunningServer.lend(flags: flags) { server in
      _ = try await server.client("alice").create(.logo(to: "alice"))
      // The one that sent the notification may still be there.
      var greedy: [RawConnection] = []
      repeat {
        greedy.append(try RawConnection(port: server.port))
      } while try greedy.count < 200 && greedy[greedy.count - 1].isServed()
      #expect((90...101).contains(greedy.count))
      let bystander = try await Child.run(
        "/usr/bin/curl",
        ["-s", "--interface", "127.0.0.2", "-u", "alice:alice", "-w", "%{http_code}"]
          + ["-o", "/dev/null", server.endpoint.absoluteString + "/api/notifications/0"])
      #expect(bystander.output == ["200"])
      #expect(try greedy[0].isServed(), "who is in stays in")
    }
  }

  /// Has somebody ask, over and over, while so many slow clients are there; what the attack reported.
  private static func attack(
    _ server: RunningServer, _ mode: String, _ count: Int,
    meanwhile ask: @escaping @Sendable () async throws -> Void
  ) async throws -> [String] {
    let target = mode == "-B" ? "/api/notifications" : "/healthz"
    let seconds = Soak.amount(short: 2, long: 60)
    let attack = try Child(
      "/usr/bin/slowhttptest",
      [mode, "-c", "\(count)", "-r", "300", "-i", "1", "-l", "\(seconds)", "-p", "20"]
        + ["-u", "http://127.0.0.1:\(server.port)\(target)"])
    let over = Over()
    let asking = Task {
      repeat { try await ask() } while !over.isSet.load(ordering: .relaxed)
    }
    var lines: [String] = []
    for await line in attack.lines { lines.append(line) }
    _ = await attack.exitCode()
    over.isSet.store(true, ordering: .relaxed)
    try await asking.value
    return lines
  }

  private final class Over: Sendable {
    let isSet = Atomic(false)
  }
}
