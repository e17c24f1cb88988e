import Foundation
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct CircuitBreakerTests {
  private let start = Date(timeIntervalSince1970: 1_800_000_000)
  private let outage = PushOutcome.unavailable(after: nil, reason: "500")

  private func tripped() -> CircuitBreaker {
    var breaker = CircuitBreaker()
    for _ in 0..<5 { breaker.record(outage, began: start, at: start, random: 1) }
    return breaker
  }

  @Test func `opens after five failures in a row`() {
    var breaker = CircuitBreaker()
    for _ in 0..<4 { breaker.record(outage, began: start, at: start, random: 1) }
    breaker.record(.delivered(reference: nil), began: start, at: start, random: 1)
    for _ in 0..<4 { breaker.record(outage, began: start, at: start, random: 1) }
    #expect(breaker.available(capacity: 9, inFlight: 2, at: start) == 7)
    breaker.record(outage, began: start, at: start, random: 1)
    #expect(breaker.available(capacity: 9, inFlight: 2, at: start) == 0)
    #expect(breaker.openUntil == start + 2)
  }

  @Test func `lets one probe through after the pause, whatever else is under way`() {
    var breaker = tripped()
    #expect(breaker.available(capacity: 9, inFlight: 0, at: start + 1.9) == 0)
    #expect(breaker.available(capacity: 9, inFlight: 3, at: start + 2) == 1)
    breaker.begin(at: start + 2)
    #expect(breaker.available(capacity: 9, inFlight: 4, at: start + 2) == 0)
  }

  @Test func `pauses longer when the probe fails, and closes when it does not`() {
    var breaker = tripped()
    breaker.begin(at: start + 2)
    breaker.record(outage, began: start + 2, at: start + 2, random: 1)
    #expect(breaker.openUntil == start + 6)
    #expect(breaker.available(capacity: 9, inFlight: 0, at: start + 6) == 1)
    breaker.begin(at: start + 6)
    breaker.record(
      .deadToken(since: nil, reason: "gone"), began: start + 6, at: start + 7, random: 1)
    #expect(breaker.openUntil == nil)
  }

  @Test func `ignores late answers to pushes from before the pause`() {
    var breaker = tripped()
    for moment in [start + 1, start + 3] {
      breaker.record(outage, began: start + 1, at: moment, random: 1)
      breaker.record(.delivered(reference: nil), began: start + 1, at: moment, random: 1)
      #expect(breaker.openUntil == start + 2)
    }
  }

  @Test func `obeys a time the service names, at once`() {
    var breaker = CircuitBreaker()
    breaker.record(
      .unavailable(after: .seconds(42), reason: "slow"), began: start, at: start, random: 0)
    #expect(breaker.openUntil == start + 42)
  }

  @Test func `asks a service again after a quarter of an hour, whatever it says`() {
    var breaker = CircuitBreaker()
    let outage = PushOutcome.unavailable(after: .seconds(86_400), reason: "closed")
    breaker.record(outage, began: start, at: start, random: 1)
    #expect(breaker.openUntil == start + 900)
  }

  @Test func `a clock that is set back makes no pause longer than half an hour`() {
    for jump in [1800.0, 86_400, 1e9] {
      var breaker = tripped()
      let now = start - jump
      #expect(breaker.pauseEnd(at: now) == nil)
      #expect(breaker.available(capacity: 9, inFlight: 2, at: now) == 1)
      breaker.begin(at: now)
      #expect(breaker.available(capacity: 9, inFlight: 3, at: now + 1) == 0)
      breaker.record(.delivered(reference: nil), began: now, at: now + 1, random: 1)
      #expect(breaker.openUntil == nil)
    }
  }

  @Test func `one that is throttled delays no other, several in a row delay the service`() {
    var breaker = CircuitBreaker()
    let throttled = PushOutcome.throttled(after: .seconds(3600), reason: "429")
    for _ in 0..<9 {
      for _ in 0..<4 { breaker.record(throttled, began: start, at: start, random: 1) }
      breaker.record(.delivered(reference: nil), began: start, at: start, random: 1)
      #expect(breaker.openUntil == nil)
    }
    for _ in 0..<5 { breaker.record(throttled, began: start, at: start, random: 1) }
    #expect(breaker.openUntil == start + 900)
  }

  @Test func `is not opened by the trouble of single devices`() {
    var breaker = CircuitBreaker()
    for _ in 0..<50 {
      breaker.record(
        .retry(after: .seconds(9), reason: "busy"), began: start, at: start, random: 1)
    }
    #expect(breaker.openUntil == nil)
  }

  @Test func `spreads waiting times over half of their length`() {
    let backoff = Backoff(first: .seconds(1), longest: .seconds(900))
    #expect(backoff.delay(after: 4, random: 0) == .seconds(4))
    #expect(backoff.delay(after: 4, random: 1) == .seconds(8))
    #expect(backoff.delay(after: 1_000_000, random: 1) == .seconds(900))
  }
}
