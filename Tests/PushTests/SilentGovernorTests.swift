import Foundation
import Testing

@testable import Push

@Suite struct SilentGovernorTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)
  private let alert = PushText.plainAlert("Look")

  private func decision(
    kind: PushText.Kind = .background, wakes: [TimeInterval], underWay: Int = 0,
    fallback: PushText? = nil
  ) -> SilentGovernor.Decision {
    let job = PushJob(
      id: 1, push: .sample(kind: kind), fallback: fallback,
      recentWakes: wakes.map { now - $0 })
    return SilentGovernor.decide(on: job, underWay: underWay, at: now)
  }

  @Test func `lets three silent pushes an hour through`() {
    #expect(decision(wakes: [10, 20]) == .send)
    #expect(decision(wakes: [10, 20, 3600]) == .send)
    #expect(decision(wakes: [10], underWay: 1) == .send)
  }

  @Test func `never holds an alert`() {
    #expect(decision(kind: .alert, wakes: [1, 2, 3, 4]) == .send)
  }

  @Test func `shows an alert instead of a fourth`() {
    #expect(decision(wakes: [1, 2, 3], fallback: alert) == .fallBack(to: alert))
  }

  @Test func `holds a fourth back until the first is an hour old`() {
    guard case .hold(let until, _) = decision(wakes: [10, 3000, 20]) else {
      Issue.record("It was not held back.")
      return
    }
    #expect(until == now + 600)
  }
}
