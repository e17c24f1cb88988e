import Foundation
import StandIns
import Testing

@testable import Push

/// One push after another of one user, at one service.
@Suite(.timeLimit(.minutes(1))) struct WebPushTransferTests {
  private static func provider(
    _ service: StandIn, clock: any PushClock = SystemClock(), transfersPerUser: Int
  ) throws -> WebPushProvider {
    try WebPushSender(
      key: .sample,
      settings: WebPushSettings(
        contact: "mailto:ops@example.com", allowed: ["localhost:\(service.port)"]),
      trustAnchor: service.certificates, clock: clock, resolver: HostResolver(),
      transfersPerUser: transfersPerUser
    ).provider(for: service.url)
  }

  @Test func `a push that has ended, however, holds up none of its user`() async throws {
    let service = try StandIn("webpush")
    let provider = try Self.provider(service, transfersPerUser: 1)
    let push = OutgoingPush.web(try service.subscribe("a"), user: 1)
    try service.answer(["a": [["status": 410], ["status": 503], ["status": 400], ["act": "drop"]]])
    for _ in 0..<4 {
      let outcome = await provider.send(push)
      if case .held = outcome { Issue.record("it is held") }
    }
    guard case .delivered = await provider.send(push) else {
      Issue.record("not delivered")
      return
    }
  }

  @Test(
    arguments: [(-5.0, "0"), (0, "0"), (1, "1"), (28 * 86_400, "2419200"), (1e9, "2419200")]
      as [(Double, String)])
  func `the time for which a push is kept is never negative, nor longer than four weeks`(
    left: Double, expected: String
  ) async throws {
    let service = try StandIn("webpush")
    let clock = TestClock.atSystemTime()
    let provider = try Self.provider(service, clock: clock, transfersPerUser: 1)
    let push = OutgoingPush(
      id: "1", target: try service.subscribe("a"), text: PushPayload(.alert, json: "{}"),
      expires: clock.now + left)
    guard case .delivered = await provider.send(push) else {
      Issue.record("not delivered")
      return
    }
    let requests = try #require(
      try service.tell(["do": "requests"])["requests"] as? [[String: Any]])
    let headers = try #require(requests.first?["headers"] as? [String: String])
    #expect(headers["TTL"] == expected)
  }
}
