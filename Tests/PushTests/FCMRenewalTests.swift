import Foundation
import StandIns
import Testing

@testable import Push

/// The renewal of Firebase's access token, which pushes do not wait for while the old one is valid.
@Suite(.timeLimit(.minutes(1))) struct FCMRenewalTests {
  @Test func `one that has failed is tried again after a minute, not with every push`() async throws
  {
    let service = try StandIn("fcm")
    let clock = TestClock(Date())
    let provider = try FCMProvider(
      credentials: FCMCredentials(json: service.account), endpoint: service.url, kind: .data,
      trustAnchor: service.certificates, clock: clock)
    let start = clock.now
    func send(at seconds: Double) async {
      clock.set(start + seconds)
      guard case .delivered = await provider.send(.android()) else {
        Issue.record("not delivered after \(seconds) s")
        return
      }
    }
    // Since the last time.
    func exchanges() throws -> Int {
      try #require(try service.tell(["do": "requests"])["exchanges"] as? Int)
    }
    await send(at: 0)
    #expect(try exchanges() == 1)
    for renewal in [2900.0, 2960] {
      try service.answer(["/token": [["status": 503]]])
      await send(at: renewal)
      var count = try exchanges()
      while count == 0 {
        try await Task.sleep(for: .milliseconds(5))
        count = try exchanges()
      }
      for later in stride(from: renewal, to: renewal + 60, by: 3) { await send(at: later) }
      #expect(try count + exchanges() == 1)
    }
  }
}
