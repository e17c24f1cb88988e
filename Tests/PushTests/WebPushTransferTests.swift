import StandIns
import Testing

@testable import Push

/// One push after another of one user, of whom only one may be under way.
@Suite(.timeLimit(.minutes(1))) struct WebPushTransferTests {
  @Test func `a push that has ended, however, holds up none of its user`() async throws {
    let service = try StandIn("webpush")
    let provider = try WebPushSender(
      key: .sample,
      settings: WebPushSettings(
        contact: "mailto:ops@example.com", allowed: ["localhost:\(service.port)"]),
      trustAnchor: service.certificates, resolver: HostResolver(),
      transfersPerUser: 1
    ).provider(for: service.url)
    let push = OutgoingPush.web(try service.subscribe("a"), user: 1)
    let steps: [[String: Any]] = [
      ["status": 410], ["status": 503], ["status": 400], ["act": "drop"], ["status": 201],
    ]
    try service.answer(["a": steps])
    for _ in steps.dropLast() {
      let outcome = await provider.send(push)
      if case .held = outcome { Issue.record("\(outcome)") }
    }
    let last = await provider.send(push)
    guard case .delivered = last else {
      Issue.record("\(last)")
      return
    }
  }
}
