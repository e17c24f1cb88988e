import Testing

@testable import RichPushClient

@Suite struct ReconnectDelayTests {
  @Test func `waits longer each time, up to half a minute`() {
    var delay = ReconnectDelay()
    for longest in [1, 2, 4, 8, 16, 30, 30, 30] {
      let wait = delay.next()
      #expect(wait <= .seconds(longest) && wait >= .seconds(longest) / 2)
    }
    delay.reset()
    #expect(delay.next() <= .seconds(1))
  }

  @Test func `never comes back earlier than the server asked`() {
    var delay = ReconnectDelay()
    #expect(delay.next(atLeast: 120) == .seconds(120))
    delay.shortest = .seconds(60)
    #expect(delay.next() >= .seconds(30))
  }

  @Test func `spreads the clients of a restarted server`() {
    let waits = (0..<100).map { _ in
      var delay = ReconnectDelay()
      return delay.next()
    }
    #expect(Set(waits).count > 90)
  }
}
