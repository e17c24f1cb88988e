import Foundation
import HTTP
import Push
import Store
import TestSupport
import Testing

@testable import Origin

/// Registrations of Web Push subscriptions.
@Suite(.timeLimit(.minutes(1))) struct SubscriptionTests {
  @Test func `an endpoint that no push could reach is refused, and leaves nothing`() async throws {
    try await TestServer.test(prepare: { configuration, _ in
      try configuration.usePush(
        "webpush", environment: [:], contact: "mailto:ops@example.com", allowed: ["10.0.0.5:8443"])
    }) { server in
      for host in [
        "[::ffff:10.0.0.1]", "2130706433", "0177.0.0.1", "0x7f.1", "127.0.0.1.", "10.0.0.5",
      ] {
        let answer = try await server.subscribe("a", at: "https://\(host)/push", as: "device")
        #expect(answer.status == 422, "\(host)")
        #expect(answer.detail?.contains("--push-allow") == true, "\(host): \(answer.detail ?? "")")
      }
      #expect(try await server.store.accounts.deviceCounts().isEmpty)
      for (id, host) in [("a", "10.0.0.5:8443"), ("b", "push.example"), ("c", "8.8.8.8")] {
        let answer = try await server.subscribe(id, at: "https://\(host)/push", as: "device")
        #expect(answer.json["deliverable"] as? Bool == true, "\(host): \(answer.text)")
      }
    }
  }
}

extension TestServer {
  /// Registers a subscription at an endpoint.
  func subscribe(_ id: String, at endpoint: String, as user: String) async throws -> TestResponse {
    let keys = try WebPushSubscription()
    let registration: [String: Any] = [
      "platform": "webpush", "handle": endpoint,
      "keys": ["p256dh": keys.p256dh, "auth": keys.auth],
    ]
    return try await execute(
      "PUT", "/api/register/\(id)", as: user, fields: ["Accept": "application/json"],
      body: String(
        decoding: try JSONSerialization.data(withJSONObject: registration), as: UTF8.self))
  }
}
