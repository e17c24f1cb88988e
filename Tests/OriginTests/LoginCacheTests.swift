import Primitives
import Store
import Testing

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct LoginCacheTests {
  private func caller(_ number: Int) -> Caller {
    Caller(id: UserID(rawValue: number), name: "u\(number)", role: .device, proof: .name)
  }

  private func isValid(_ field: String, _ logins: LoginCache) -> Bool {
    if case .valid = logins.find(logins.key(field)) { true } else { false }
  }

  @Test func `knows what was verified, and nothing else`() {
    let logins = LoginCache()
    logins.add(caller(1), as: logins.key("Basic a"), verified: logins.changes.moment)
    guard case .valid(let found) = logins.find(logins.key("Basic a")) else {
      Issue.record("It was forgotten.")
      return
    }
    #expect(found == caller(1))
    for field in ["Basic b", "basic a", ""] { #expect(!isValid(field, logins), "\(field)") }
  }

  @Test func `a change of a user ends the user's logins, and nobody else's`() {
    let logins = LoginCache()
    for number in 1...3 {
      logins.add(caller(number), as: logins.key("\(number)"), verified: logins.changes.moment)
    }
    logins.changes.record(2)
    #expect((1...3).map { isValid("\($0)", logins) } == [true, false, true])
    guard case .changed(let changed) = logins.find(logins.key("2")) else {
      Issue.record("It is not told who it was.")
      return
    }
    logins.add(changed, as: logins.key("2"), verified: logins.changes.moment)
    #expect(isValid("2", logins))
    logins.changes.record(nil)
    #expect((1...3).allSatisfy { !isValid("\($0)", logins) })
  }

  @Test func `what was verified before a change must be verified again`() {
    let logins = LoginCache()
    let (before, other) = (logins.changes.moment, logins.changes.moment)
    logins.changes.record(1)
    logins.add(caller(1), as: logins.key("1"), verified: before)
    logins.add(caller(2), as: logins.key("2"), verified: other)
    #expect(!isValid("1", logins) && isValid("2", logins))
  }

  @Test func `ends after its lifetime`() {
    let logins = LoginCache(lifetime: .zero)
    logins.add(caller(1), as: logins.key("1"), verified: logins.changes.moment)
    #expect(!isValid("1", logins))
  }

  @Test func `keeps at most as many as it may, those used last`() {
    let logins = LoginCache(capacity: 100)
    for number in 0..<1000 {
      logins.add(caller(number), as: logins.key("\(number)"), verified: logins.changes.moment)
      #expect(isValid("0", logins), "it is used all the time")
    }
    #expect((51...100).contains(logins.count) && isValid("999", logins))
  }
}
