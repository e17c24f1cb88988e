import Testing

@testable import RichPushClient

@Suite struct PauseTests {
  @Test func `waits longer each time, up to half a minute`() {
    var pause = Pause()
    for longest in [1, 2, 4, 8, 16, 30, 30, 30] {
      let wait = pause.next()
      #expect(wait <= .seconds(longest) && wait >= .seconds(longest) / 2)
    }
    pause.reset()
    #expect(pause.next() <= .seconds(1))
  }

  @Test func `never comes back earlier than the server asked`() {
    var pause = Pause()
    #expect(pause.next(atLeast: 120) == .seconds(120))
    pause.shortest = .seconds(60)
    #expect(pause.next() >= .seconds(30))
  }

  @Test func `spreads the clients of a restarted server`() {
    let waits = (0..<100).map { _ in
      var pause = Pause()
      return pause.next()
    }
    #expect(Set(waits).count > 90)
  }
}
