import Foundation
import StandIns
import Testing
import Waiting

@testable import Push

/// The renewal of Firebase's access token, which pushes do not wait for while the old one is valid.
@Suite(.timeLimit(.minutes(1))) struct FCMRenewalTests {
  @Test func `one that has failed is tried again a minute later, not with every push`() async throws
  {
    let service = try StandIn("fcm")
    let start = Date()
    let clock = ManualClock(at: start)
    let provider = try FCMProvider(
      credentials: FCMCredentials(json: service.account), endpoint: service.url, kind: .data,
      trustAnchor: service.certificates, now: { clock.date })
    func send(at seconds: Double) async {
      clock.advance(by: .seconds(start.timeIntervalSince(clock.date) + seconds))
      let outcome = await provider.send(.android())
      guard case .delivered = outcome else {
        Issue.record("after \(seconds) s: \(outcome)")
        return
      }
    }
    /// Since the last time.
    func exchanges() throws -> Int {
      try #require(try service.tell(["do": "requests"])["exchanges"] as? Int)
    }
    await send(at: 0)
    #expect(try exchanges() == 1)
    try service.answer(["/token": [["status": 503]]])
    for renewal in [2900.0, 2960] {
      await send(at: renewal)
      var count = 0
      try await eventually("the token is asked for") {
        count += try exchanges()
        return count > 0
      }
      for later in stride(from: renewal, to: renewal + 60, by: 3) { await send(at: later) }
      #expect(try count + exchanges() == 1, "from \(renewal) s on")
    }
  }
}
