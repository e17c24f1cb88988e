import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct FailedLoginsTests {
  private let clock = ManualClock()

  private func logins() -> FailedLogins { FailedLogins(clock: clock) }

  @Test func `the wrong password of one does not keep out an office behind one address`() {
    let logins = logins()
    for colleague in ["alice", "carol", "dave"] { logins.succeeded(colleague, from: "office") }
    // A program with an old password tries for an hour.
    for _ in 0..<7200 {
      if logins.wait("bob", from: "office") == nil { logins.failed("bob", from: "office") }
      clock.advance(by: .milliseconds(500))
      #expect(logins.wait("alice", from: "office") == nil)
      #expect(logins.wait("new", from: "office") == nil)
    }
    #expect(logins.limited > 6000)
    #expect(logins.wrong < 10 + 600 + 1, "his password is tried ten times a minute")
    #expect(!logins.isSuspect("alice", from: "office") && logins.isSuspect("bob", from: "office"))
  }

  @Test func `an address with many failed logins must wait with every name, known or not`() {
    let logins = logins()
    for number in 0..<100 {
      #expect(logins.wait("user\(number)", from: "a") == nil)
      logins.failed("user\(number)", from: "a")
    }
    let wait = logins.wait("alice", from: "a")
    #expect(wait != nil && wait == logins.wait("nobody", from: "a"))
    #expect(logins.wait("alice", from: "b") == nil)
    #expect(logins.limited == 2 && logins.wrong == 100)
    #expect(logins.isSuspect("alice", from: "a") && !logins.isSuspect("alice", from: "b"))
  }

  @Test(arguments: [0, 5, 1000]) func `guesses from one address have a limit`(users: Int) {
    let logins = logins()
    for user in 0..<users { logins.succeeded("user\(user)", from: "a") }
    var guesses = 0
    for name in 0..<120_000 {
      // Another name each time, 200 in a second.
      if logins.wait("name\(name)", from: "a") == nil {
        logins.failed("name\(name)", from: "a")
        guesses += 1
      }
      clock.advance(by: .milliseconds(5))
    }
    // At first, and in each of the ten minutes.
    let limit = 10 * min(10 + users, 100)
    #expect((limit * 10...limit * 11 + 1).contains(guesses), "\(guesses)")
  }

  @Test func `who has to wait is listed, the longest first`() {
    let logins = logins()
    for _ in 0..<12 { logins.failed("bob", from: "2001:db8::1") }
    let refusals = logins.refusals(limit: 9)
    #expect(refusals.map(\.username) == ["bob", "bob"])
    #expect(refusals.contains { $0.address == nil })
    #expect(refusals.contains { $0.address == IPAddress.network("2001:db8::2") })
    #expect(refusals.allSatisfy { $0.failures == 12 && $0.wait == 18 })
    clock.advance(by: .seconds(18))
    #expect(logins.refusals(limit: 9).isEmpty)
  }

  @Test func `addresses of one IPv6 network wait together`() {
    let logins = logins()
    for number in 0..<100 { logins.failed("user\(number)", from: "2001:db8::\(number + 1)") }
    #expect(logins.wait("alice", from: "2001:db8::ffff") != nil)
    #expect(logins.wait("alice", from: "2001:db8:0:1::1") == nil)
    for number in 0..<10 { logins.failed("alice", from: "2001:db8:0:2::\(number + 1)") }
    #expect(logins.isSuspect("alice", from: "2001:db8:0:2::ffff"))
  }

  @Test func `a name that many addresses try must wait, but not on an address of its user`() {
    let logins = FailedLogins()
    logins.succeeded("alice", from: "home")
    logins.succeeded("bob", from: "elsewhere")
    for number in 0..<10 { logins.failed("alice", from: "a\(number)") }
    #expect(logins.wait("alice", from: "elsewhere") != nil)
    #expect(logins.wait("bob", from: "elsewhere") == nil)
    #expect(logins.wait("alice", from: "home") == nil)
  }

  @Test func `an address in the same network as a user's address must wait`() {
    let logins = FailedLogins()
    logins.succeeded("alice", from: "2001:db8::1")
    for number in 0..<10 { logins.failed("alice", from: "2001:db8:0:\(number + 1)::1") }
    #expect(logins.wait("alice", from: "2001:db8::1") == nil)
    #expect(logins.wait("alice", from: "2001:db8::2") != nil)
  }

  @Test func `a right password is not checked while its name must wait`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let hash = try #require(PasswordHash.make("secret"))
    try await store.accounts.addUser("alice", hash: hash, role: .device)
    let authenticator = Authenticator(
      store: store, isDemo: false, failures: FailedLogins(interval: 3600))
    func answer(_ pair: String) async throws -> String {
      let field = "Basic " + Data(pair.utf8).base64EncodedString()
      switch await authenticator.verify(field, from: "a") {
      case .caller: return "in"
      case .wrong: return "wrong"
      case .tooManyFailures, .busy: return "wait"
      case .failed(let error): throw error
      }
    }
    for number in 0..<10 {
      for name in ["alice", "nobody"] {
        #expect(try await answer("\(name):\(number)") == "wrong")
      }
    }
    #expect(try await answer("alice:secret") == "wait")
    #expect(try await answer("nobody:secret") == "wait")
  }
  @Test func `a wrong password takes as long for an unknown name`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let hash = try #require(PasswordHash.make("secret"))
    try await store.accounts.addUser("alice", hash: hash, role: .device)
    // Failures are forgotten at once, so that every password is looked at.
    let authenticator = Authenticator(
      store: store, isDemo: false, failures: FailedLogins(interval: 1e-9))
    var least: [String: Int] = [:]
    for number in 0..<20 {
      for name in ["nobody", "alice"] {
        let field = "Basic " + Data("\(name):\(number)".utf8).base64EncodedString()
        let start = Self.processorTime
        guard case .wrong = await authenticator.verify(field, from: "a") else {
          Issue.record("\(name) was not looked at.")
          return
        }
        least[name] = min(least[name] ?? .max, Self.processorTime - start)
      }
    }
    let (known, unknown) = (try #require(least["alice"]), try #require(least["nobody"]))
    #expect(known < unknown * 2 && unknown < known * 2, "\(known), \(unknown)")
  }

  /// In nanoseconds; what else the machine does is not in it.
  private static var processorTime: Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
