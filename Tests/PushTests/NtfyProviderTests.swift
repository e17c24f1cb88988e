import Foundation
import StandIns
import Testing

@testable import Push

/// How ntfy's app for iOS is woken.
@Suite(.timeLimit(.minutes(1))) struct NtfyProviderTests {
  private func provider(
    _ upstream: StandIn, token: String? = nil
  ) throws -> NtfyProvider {
    var environment = ["RICHPUSH_NTFY_UPSTREAM": upstream.url + "/"]
    environment["RICHPUSH_NTFY_SECRET"] = token
    return try NtfyProvider(
      NtfySettings(EnvironmentSettings(environment)), trustAnchor: upstream.certificates,
      now: { Date() })
  }

  private func push(_ id: Int?) -> OutgoingPush {
    var message = PushMessage(text: "a secret")
    message.id = id
    return OutgoingPush(
      id: "", target: .device(handle: "https://ntfy.example.org/inbox-x", platform: "ntfy"),
      message: message, text: NtfyProvider.payload(of: message).payload())
  }

  @Test(arguments: [nil, "tk_1"])
  func `the other server learns a hash and a number`(token: String?) async throws {
    let upstream = try StandIn("ntfy")
    let outcome = try await provider(upstream, token: token).send(push(7))
    #expect(outcome == .delivered(reference: nil))
    let seen = try #require(
      try upstream.tell(["do": "requests"])["requests"] as? [[String: String]])
    // sha256sum of the URL.
    #expect(
      seen == [
        [
          "topic": "ec6a174dd63bd22e54a0a86095b0803365b39ede3f0efb379318a5cca017cb91",
          "number": "7", "authorization": token.map { "Bearer " + $0 } ?? "",
        ]
      ])
  }

  @Test func `a text without a notification is nothing to fetch`() async throws {
    let upstream = try StandIn("ntfy")
    guard case .rejected = try await provider(upstream).send(push(nil)) else {
      Issue.record("it was sent")
      return
    }
  }

  @Test func `acts on every answer`() async throws {
    let upstream = try StandIn("ntfy")
    let provider = try provider(upstream)
    let cases: [(step: [String: Any], check: (PushOutcome) -> Bool)] = [
      (["status": 200], { $0 == .delivered(reference: nil) }),
      (["status": 302], { if case .laneStopped = $0 { true } else { false } }),
      (["status": 403], { if case .laneStopped = $0 { true } else { false } }),
      (["status": 400], { if case .rejected = $0 { true } else { false } }),
      (
        ["status": 429, "headers": ["Retry-After": "9"]],
        { if case .unavailable(.seconds(9), _) = $0 { true } else { false } }
      ),
      (["status": 500], { if case .unavailable(nil, _) = $0 { true } else { false } }),
      (["act": "drop"], { if case .unavailable(nil, _) = $0 { true } else { false } }),
    ]
    for (step, check) in cases {
      try upstream.answer(["*": [step]])
      let outcome = await provider.send(push(7))
      #expect(check(outcome), "\(step): \(outcome)")
    }
  }

  @Test func `a check wakes nobody, and says what is wrong`() async throws {
    let upstream = try StandIn("ntfy")
    let provider = try provider(upstream)
    #expect(await provider.check().map(\.isGood) == [true])
    try upstream.answer(["*": [["status": 403, "raw": "forbidden"]]])
    let finding = try #require(await provider.check().first)
    #expect(!finding.isGood && finding.sentence.contains("403: forbidden"))
  }

  @Test(arguments: ["http://ntfy.sh", "ntfy.sh", "ftp://ntfy.sh", ""])
  func `the other server has an https URL`(url: String) {
    #expect(throws: PushError.self) {
      try NtfySettings(EnvironmentSettings(["RICHPUSH_NTFY_UPSTREAM": url]))
    }
  }
}
