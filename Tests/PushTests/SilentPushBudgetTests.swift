import Foundation
import Testing

@testable import Push
import RichPushAPI

@Suite(.timeLimit(.minutes(1))) struct SilentPushBudgetTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)
  private let message = PushMessage(1, "Look", richType: "img", form: .silent)

  private func decision(
    kind: PushPayload.Kind = .background, sent: [TimeInterval], underWay: Int = 0,
    message: PushMessage? = nil, fits: Bool = true
  ) -> SilentPushBudget.Decision {
    let job = PushJob(
      id: 1, push: .sample(kind: kind, message: message),
      recentSilentPushes: sent.map { now - $0 })
    return SilentPushBudget.decide(on: job, underWay: underWay, at: now, fits: { _ in fits })
  }

  @Test func `lets three silent pushes an hour through`() {
    #expect(decision(sent: [10, 20]) == .send)
    #expect(decision(sent: [10, 20, 3600]) == .send)
    #expect(decision(sent: [10], underWay: 1) == .send)
  }

  @Test func `never holds an alert`() {
    #expect(decision(kind: .alert, sent: [1, 2, 3, 4]) == .send)
  }

  @Test func `shows an alert instead of a fourth`() {
    #expect(decision(sent: [1, 2, 3], message: message) == .fallBack(to: message.asAlert))
  }

  @Test func `holds a fourth back whose alert the service would not take`() {
    guard case .hold = decision(sent: [1, 2, 3], message: message, fits: false) else {
      Issue.record("It was not held back.")
      return
    }
  }

  @Test func `holds a fourth back until the first is an hour old`() {
    guard case .hold(let until, _) = decision(sent: [10, 3000, 20]) else {
      Issue.record("It was not held back.")
      return
    }
    #expect(until == now + 600)
  }
}
