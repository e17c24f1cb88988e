import Synchronization
import Testing
import Waiting

@testable import Store

/// How long a node believes in a database that is silent; no test waits for that.
@Suite(.timeLimit(.minutes(1))) struct PostgresContactTests {
  private let clock = ManualClock()
  private let observers = CommitObservers()

  private func contact() -> PostgresContact {
    PostgresContact(observers: observers, clock: clock)
  }

  private func isBelieved(_ contact: PostgresContact) -> Bool {
    (try? contact.requireLife()) != nil
  }

  @Test func `statements fail at once after five seconds of silence, until there is an answer`() {
    let contact = contact()
    for second in 1...8 {
      clock.advance(by: .seconds(1))
      #expect(isBelieved(contact) == (second < 5), "after \(second) s")
    }
    contact.recordLife()
    #expect(isBelieved(contact))
    clock.advance(by: .seconds(1))
    contact.recordHearing()
    for second in 1...6 {
      clock.advance(by: .seconds(1))
      #expect(isBelieved(contact) == (second < 5), "after \(second) s")
    }
  }

  @Test func `a node that stood still believes in what it could not hear`() {
    let contact = contact()
    clock.advance(by: .seconds(3600))
    #expect(isBelieved(contact))
  }

  @Test func `all is read again while the database answers, but tells of no changes`() {
    let told = Mutex((everything: 0, silence: Duration.zero))
    observers.onEverything.add { told.withLock { $0.everything += 1 } }
    observers.onHearing.add { silence in told.withLock { $0.silence = silence } }
    let contact = contact()
    contact.recordHearing()
    for _ in 1...3 {
      clock.advance(by: .seconds(1))
      contact.recordLife()
      contact.tell(observers)
    }
    #expect(told.withLock { $0.everything } == 0)
    clock.advance(by: .seconds(1))
    contact.recordLife()
    contact.tell(observers)
    #expect(told.withLock { $0.everything } > 0)
    #expect(told.withLock { $0.silence } == .seconds(4))
    contact.recordHearing()
    contact.tell(observers)
    #expect(told.withLock { $0.silence } == .zero)
    let before = told.withLock { $0.everything }
    contact.tell(observers)
    #expect(told.withLock { $0.everything } == before)
  }
}
