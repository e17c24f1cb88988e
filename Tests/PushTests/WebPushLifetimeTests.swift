import Foundation
import StandIns
import Testing

@testable import Push

/// How long a service is asked to keep a push.
@Suite(.timeLimit(.minutes(1))) struct WebPushLifetimeTests {
  private static func provider(
    _ service: StandIn, now: @escaping @Sendable () -> Date = { Date() }, transfersPerUser: Int
  ) throws -> WebPushProvider {
    try WebPushSender(
      key: .sample,
      settings: WebPushSettings(
        contact: "mailto:ops@example.com", allowed: ["localhost:\(service.port)"]),
      trustAnchor: service.certificates, now: now, resolver: HostResolver(),
      transfersPerUser: transfersPerUser
    ).provider(for: service.url)
  }

  @Test(
    arguments: [(-5.0, "0"), (0, "0"), (1, "1"), (28 * 86_400, "2419200"), (1e9, "2419200")]
      as [(Double, String)])
  func `the time for which a push is kept is never negative, nor longer than four weeks`(
    left: Double, expected: String
  ) async throws {
    let service = try StandIn("webpush")
    let now = Date.thisSecond
    let provider = try Self.provider(service, now: { now }, transfersPerUser: 1)
    let push = OutgoingPush(
      id: "1", target: try service.subscribe("a"), text: PushPayload(.alert, json: "{}"),
      expires: now + left)
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
