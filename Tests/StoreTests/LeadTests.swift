import Synchronization
import Testing

@testable import Store

@Suite struct LeadTests {
  @Test func `a lead is vacant once nobody has had it for a minute, and until somebody has`() {
    let lead = Lead(name: "lead")
    let told = Told()
    lead.onVacancy.add { isVacant in told.values.withLock { $0.append(isVacant) } }
    let start = ContinuousClock.now
    lead.record(isAnyNodes: false, at: start)
    lead.record(isAnyNodes: true, at: start + .seconds(50))
    lead.record(isAnyNodes: false, at: start + .seconds(51))
    lead.record(isAnyNodes: false, at: start + .seconds(110))
    #expect(!lead.isVacant && told.values.withLock { $0 }.isEmpty)
    for second in 111...120 { lead.record(isAnyNodes: false, at: start + .seconds(second)) }
    #expect(lead.isVacant && told.values.withLock { $0 } == [true])
    lead.record(isAnyNodes: true, at: start + .seconds(121))
    #expect(!lead.isVacant && told.values.withLock { $0 } == [true, false])
  }

  private final class Told: Sendable {
    let values = Mutex<[Bool]>([])
  }
}
