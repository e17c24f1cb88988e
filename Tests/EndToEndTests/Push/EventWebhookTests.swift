import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// The operator's own program hears what happens, signed, at least once.
@Suite(.timeLimit(.minutes(5))) struct EventWebhookTests {
  static func environment(_ hub: StandIn) -> [String: String] {
    [
      "RICHPUSH_EVENTS_URL": hub.url + "/events", "RICHPUSH_PUSH_CA": hub.certificates,
      "RICHPUSH_EVENTS_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ]
  }

  @Test func `gets every receipt, over refusals and a kill`() async throws {
    let hub = try StandIn("hub")
    try hub.tell([
      "do": "rules",
      "rules": [
        "*": [["status": 503, "headers": ["Retry-After": "1"]], ["act": "drop"], ["status": 204]]
      ],
    ])
    try await RunningServer.lend(environment: Self.environment(hub)) { server in
      let alice = server.client("alice")
      for number in 0..<5 {
        let id = try await server.client("shop").create(.logo(to: "alice", "\(number)")).id
        _ = try await alice.media(id)
        try await alice.markRead(id)
        if number == 2 { try await server.restart(by: SIGKILL) }
      }
      var told: Set<String> = []  // a fetch just before the kill may be forgotten
      try await eventually("every receipt comes") {
        told.formUnion(try Self.events(of: hub))
        return (0..<5).allSatisfy { told.contains("receipt \($0) alice read") }
          && (3..<5).allSatisfy { told.contains("receipt \($0) alice fetched") }
      }
    }
  }

  @Test func `is refused without a secret, and with an address that is not private`() async throws {
    for (variables, sentence) in [
      (["RICHPUSH_EVENTS_URL": "https://localhost/"], "RICHPUSH_EVENTS_SECRET"),
      (["RICHPUSH_EVENTS_URL": "http://example.com/"], "https://"),
    ] {
      let result = try await Child.run("richpush", ["serve", "--demo"], environment: variables)
      #expect(result.exitCode == 64 && result.errors.contains(sentence), "\(result.errors)")
    }
  }

  private static func events(of hub: StandIn) throws -> [String] {
    let seen = try hub.tell(["do": "requests"])["requests"] as? [[String: Any]] ?? []
    return try seen.compactMap { request in
      guard let body = request["body"] as? String else { return nil }
      let event = try JSONDecoder().decode(JSONValue.self, from: Data(body.utf8))
      return "\(event.type.text ?? "") \(event.notification.integer ?? -1) "
        + "\(event.user.text ?? "") \(event.state.text ?? "")"
    }
  }
}
