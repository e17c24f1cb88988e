import Foundation
import StandIns
import Testing

@testable import Push

/// Services over HTTP/2 whose connection stands, but on which nothing is answered any more.
@Suite(.timeLimit(.minutes(1))) struct SilentConnectionTests {
  private static let timeout = Duration.milliseconds(2500)

  /// Sends while the service answers, while it does not, and then once more.
  private func expectAnotherConnection(
    to service: StandIn, send: () async -> PushOutcome
  ) async throws {
    _ = await send()
    try service.tell(["do": "mute", "isMute": true])
    let outcome = await send()
    #expect(outcome.reason?.contains("timed out") == true, "\(outcome)")
    try service.tell(["do": "mute", "isMute": false])
    let before = try opened(service)
    _ = await send()
    #expect(try opened(service) > before)
  }

  /// How many connections a service has had.
  private func opened(_ service: StandIn) throws -> Int {
    try #require(try service.tell(["do": "requests"])["opened"] as? Int)
  }

  // Any server of HTTP/2 will do: it has no token service, and no subscriptions, and says so.
  @Test func `the next request to Firebase leaves it`() async throws {
    let (service, account) = (try StandIn("apns"), try StandIn("fcm"))
    let provider = try FCMProvider(
      credentials: FCMCredentials(
        json: account.account.replacing(account.url, with: service.url)),
      endpoint: service.url, trustAnchor: service.certificates, timeout: Self.timeout)
    try await expectAnotherConnection(to: service) { await provider.send(.android()) }
  }

  @Test func `the next Web Push to the service leaves it`() async throws {
    let service = try StandIn("apns")
    let provider = try WebPushSender(
      key: .sample,
      settings: WebPushSettings(
        contact: "mailto:ops@example.com", allowed: ["localhost:\(service.port)"]),
      trustAnchor: service.certificates, timeout: Self.timeout
    ).provider(for: service.url)
    let push = OutgoingPush.web(
      .subscription(endpoint: service.url + "/push/a", keys: WebPushKeys.sample))
    try await expectAnotherConnection(to: service) { await provider.send(push) }
  }
}
