import Primitives
import Testing

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct CacheTrustTests {
  private let clock = ChangeClock()
  private let start = ContinuousClock.now

  /// A node that has heard from the database for two minutes, and what it has read in every second.
  private func hearing() -> (trust: CacheTrust, read: [ChangeClock.Moment]) {
    let trust = CacheTrust([clock])
    let read = (0..<120).map { second in
      trust.update(silence: .zero, at: start + .seconds(second))
      return clock.moment
    }
    return (trust, read)
  }

  private func valid(_ read: [ChangeClock.Moment]) -> [Int] {
    read.indices.filter { !clock.hasChanged(1, since: read[$0]) }
  }

  @Test func `all is valid while the node hears from the database, also for four seconds without`()
  {
    let (trust, read) = hearing()
    for second in 0...4 {
      trust.update(silence: .seconds(second), at: start + .seconds(119 + second))
    }
    #expect(valid(read).count == 120)
  }

  @Test func `after five seconds only the last minute's is valid, and after a minute nothing`() {
    let (trust, read) = hearing()
    for silence in [5, 20, 59] {
      trust.update(silence: .seconds(silence), at: start + .seconds(119 + silence))
      #expect(valid(read).first == 119 + silence - 60)
      #expect(valid(read).last == 119)
    }
    trust.update(silence: .seconds(61), at: start + .seconds(180))
    #expect(valid(read).isEmpty)
    // Nor is what is said to be read from then on.
    let late = clock.moment
    trust.update(silence: .seconds(62), at: start + .seconds(181))
    #expect(clock.hasChanged(1, since: late))
  }

  @Test func `what is read after the silence is valid`() {
    let (trust, read) = hearing()
    trust.update(silence: .seconds(70), at: start + .seconds(189))
    trust.update(silence: .zero, at: start + .seconds(190))
    let new = clock.moment
    for second in 191...400 { trust.update(silence: .zero, at: start + .seconds(second)) }
    #expect(!clock.hasChanged(1, since: new) && valid(read).isEmpty)
  }

  @Test func `a late start of the clock does not make old things valid`() {
    let trust = CacheTrust([clock])
    let early = clock.moment
    trust.update(silence: .seconds(1), at: start)
    #expect(!clock.hasChanged(1, since: early))
    trust.update(silence: .seconds(62), at: start + .seconds(61))
    #expect(clock.hasChanged(1, since: early))
  }
}
