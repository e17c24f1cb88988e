import Foundation
import StandIns
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct WebhookProviderTests {
  private func provider(
    _ hub: StandIn, secret: String = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  ) throws -> WebhookProvider {
    WebhookProvider(
      try Webhook(
        url: hub.url + "/hook", secret: WebhookSecret(secret), trustAnchor: hub.certificates))
  }

  @Test func `signs as the specification's own example does`() throws {
    let secret = try WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    #expect(
      secret.signature(
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: 1_614_265_330, body: #"{"test": 2432232314}"#)
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test func `posts the push as signed JSON`() async throws {
    let hub = try StandIn("hub")
    let push = OutgoingPush.sample(3, collapseID: "n\"3", expires: Date(timeIntervalSince1970: 2e9))
    #expect(try await provider(hub).send(push) == .delivered(reference: nil))
    let seen = try #require(try hub.tell(["do": "requests"])["requests"] as? [[String: Any]])
    #expect(
      seen.first?["body"] as? String
        == #"{"id":"\#(push.id)","target":{"platform":"apns","handle":"AB12"},"#
        + #""kind":"background","collapseId":"n\"3","expires":"2033-05-18T03:33:20Z","#
        + #""push":{"aps":{"content-available":1},"richId":"3"}}"#)
  }

  @Test func `acts on every answer`() async throws {
    let hub = try StandIn("hub")
    let cases: [(step: [String: Any], check: (PushOutcome) -> Bool)] = [
      (["status": 204], { $0 == .delivered(reference: nil) }),
      (["status": 302], { if case .laneStopped = $0 { true } else { false } }),
      (["status": 404], { if case .laneStopped = $0 { true } else { false } }),
      (["status": 408], { if case .unavailable(nil, _) = $0 { true } else { false } }),
      (["status": 425], { if case .unavailable(nil, _) = $0 { true } else { false } }),
      (["status": 410], { if case .deadToken(nil, _) = $0 { true } else { false } }),
      (["status": 422], { if case .rejected = $0 { true } else { false } }),
      (
        ["status": 429, "headers": ["Retry-After": "9"]],
        { if case .unavailable(.seconds(9), _) = $0 { true } else { false } }
      ),
      (["status": 502], { if case .unavailable(nil, _) = $0 { true } else { false } }),
    ]
    let provider = try provider(hub)
    for (step, check) in cases {
      try hub.tell(["do": "rules", "rules": ["*": [step]]])
      let delivery = await provider.send(.sample())
      #expect(check(delivery), "\(step): \(delivery)")
    }
  }

  @Test func `stops when the receiver does not accept the signature`() async throws {
    let hub = try StandIn("hub")
    let other = try provider(hub, secret: "another secret of some length")
    guard case .laneStopped(let reason) = await other.send(.sample()) else {
      Issue.record("The signature was accepted.")
      return
    }
    #expect(reason.contains("secret"))
  }

  @Test(arguments: ["short", "whsec_***", "whsec_c2hvcnQ="])
  func `refuses a secret that protects nothing`(text: String) {
    #expect(throws: PushError.self) { try WebhookSecret(text) }
  }
}
