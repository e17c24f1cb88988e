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

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct FailedLoginsTests {
  @Test func `an address with failed logins must wait, even with other names`() {
    let logins = FailedLogins()
    for number in 0..<10 {
      #expect(logins.wait("user\(number)", from: "a") == nil)
      logins.failed("user\(number)", from: "a")
    }
    let wait = logins.wait("alice", from: "a")
    #expect(wait != nil && wait == logins.wait("nobody", from: "a"))
    #expect(logins.wait("alice", from: "b") == nil)
    #expect(logins.limited == 2 && logins.wrong == 10)
  }

  @Test func `addresses of one IPv6 network wait together`() {
    let logins = FailedLogins()
    for number in 0..<10 { logins.failed("user\(number)", from: "2001:db8::\(number + 1)") }
    #expect(logins.wait("alice", from: "2001:db8::ffff") != nil)
    #expect(logins.wait("alice", from: "2001:db8:0:1::1") == nil)
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

  @Test func `a right password is not checked while its address must wait`() async throws {
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
    for number in 0..<10 { #expect(try await answer("alice:\(number)") == "wrong") }
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
