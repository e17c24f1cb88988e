import Foundation
import StandIns
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct WindowTests {
  @Test func `is small where answers come at once, and large where the way is long`() {
    var window = Window()
    #expect(window.size == 64)
    for _ in 0..<2000 { window.learn(100_000) }
    #expect(window.size == 1000)
    for _ in 0..<2000 { window.learn(30_000) }
    #expect(window.size == 1000)
    for _ in 0..<2000 { window.learn(1000) }
    #expect(window.size == 64)
  }

  @Test func `is widened while nothing is heard`() {
    var window = Window()
    for _ in 0..<20 { window.widen() }
    #expect(window.size == 1000)
  }

  @Test func `a push is not held up by ninety others that nobody answers`() async throws {
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
      await provider.send(pushes) { place, _ in tell.yield(place) }
    }
    var places = answered.makeAsyncIterator()
    #expect(await places.next() == 90)
    sending.cancel()
    await sending.value
  }
}
