import Foundation
import StandIns
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct ConcurrencyWindowTests {
  @Test func `is small while responses come at once, and large while they take long`() {
    var window = ConcurrencyWindow()
    #expect(window.size == 64)
    for _ in 0..<2000 { window.adapt(to: 100_000) }
    #expect(window.size == 1000)
    for _ in 0..<2000 { window.adapt(to: 30_000) }
    #expect(window.size == 1000)
    for _ in 0..<2000 { window.adapt(to: 1000) }
    #expect(window.size == 64)
  }

  @Test func `widens up to its limit`() {
    var window = ConcurrencyWindow()
    for _ in 0..<20 { window.widen() }
    #expect(window.size == 1000)
  }

  @Test func `a push is not delayed by ninety others without a response`() async throws {
    let apns = try StandIn("apns")
    try apns.answer(["AA": [["act": "silence"]]])
    let pem = try String(contentsOfFile: apns.folder + "/key.p8", encoding: .utf8)
    let provider = try APNsProvider(
      key: APNsKey(pem: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ"),
      topic: "com.example.richpush", endpoints: [apns.url], trustAnchor: apns.certificates)
    _ = await provider.send(.sample(0))
    let (answered, tell) = AsyncStream.makeStream(of: Int.self)
    let sending = Task {
      let pushes = (0..<91).map { OutgoingPush.sample($0, to: $0 < 90 ? "AA" : "BB") }
      await provider.send(pushes) { index, _ in tell.yield(index) }
    }
    var indices = answered.makeAsyncIterator()
    #expect(await indices.next() == 90)
    sending.cancel()
    await sending.value
  }
}
