import Foundation
import RichPushClient
import Testing

/// Clients that hold connections as long as they can (slowhttptest of Debian).
@Suite(.timeLimit(.minutes(10))) struct SlowClientsSoakTests {
  @Test(arguments: ["-H", "-B", "-X"])
  func `hundreds of slow clients keep nobody out`(mode: String) async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      _ = try await alice.create(.logo(to: "alice"))
      let target = mode == "-B" ? "/api/notifications" : "/healthz"
      let attack = try Child(
        "/usr/bin/slowhttptest",
        [
          mode, "-c", "\(Soak.amount(short: 300, long: 3000))", "-r", "300", "-i", "1",
          "-l", "\(Soak.amount(short: 2, long: 60))", "-p", "5",
          "-u", "http://127.0.0.1:\(server.port)\(target)",
        ])
      // Slow bodies without a password are refused before they come.
      try await eventually("they have come") {
        let (refused, open) = (
          try server.measured(
            #"richpush_http_requests_total{route="/api/notifications",method="POST",status="401"}"#),
          try server.measured("richpush_http_connections")
        )
        return max(refused, open) > 50
      }
      for _ in 0..<5 { #expect(try await alice.media(0).contentType == "image/png") }
      for await line in attack.lines where line.contains("service available") {
        #expect(line.contains("YES"))
      }
      _ = await attack.exitCode()
      try await eventually("their connections are closed") {
        try server.measured("richpush_http_connections") < 10
      }
    }
  }
}
