import Foundation
import Store
import Synchronization
import Testing

@testable import Origin

@Suite struct AuthenticatorTests {
  private func basic(_ pair: String) -> String { "Basic " + Data(pair.utf8).base64EncodedString() }

  @Test func `a verified password is known at once the next time`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let hash = try #require(PasswordHash.make("secret"))
    try await store.addUser("alice", hash: hash, role: .publisher)
    let authenticator = Authenticator(store: store, isDemo: false)
    let field = basic("alice:secret")
    guard case .unknown(let credentials) = authenticator.find(field) else {
      Issue.record("The password was known before it was verified.")
      return
    }
    #expect(await authenticator.verify(credentials, field, from: "::1").caller?.role == .publisher)
    guard case .caller(let caller) = authenticator.find(field) else {
      Issue.record("The password was forgotten.")
      return
    }
    #expect(caller.name == "alice")
  }

  @Test(arguments: ["alice:wrong", "alice:", "bob:secret"])
  func `refuses a wrong password and an unknown name`(_ pair: String) async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let hash = try #require(PasswordHash.make("secret"))
    try await store.addUser("alice", hash: hash, role: .device)
    let authenticator = Authenticator(store: store, isDemo: false)
    let credentials = try #require(Credentials(basic(pair)))
    #expect(await authenticator.verify(credentials, basic(pair), from: "::1").caller == nil)
  }

  @Test func `the demo lets in whoever has the name as password, and nobody else`() async throws {
    let scratch = try Scratch()
    let authenticator = Authenticator(store: try scratch.store(), isDemo: true)
    let guest = try #require(Credentials(basic("zoe:zoe")))
    let caller = await authenticator.verify(guest, basic("zoe:zoe"), from: "::1").caller
    #expect(caller?.mayPublish == true)
    guard case .caller(caller) = authenticator.find(basic("zoe:zoe")) else {
      Issue.record("The demo forgot its guest.")
      return
    }
    guard case .unknown = authenticator.find(basic("zoe:eoz")) else {
      Issue.record("The demo let a stranger in.")
      return
    }
  }

  @Test func `hashes are yescrypt, and never the same twice`() throws {
    let hashes = try (0..<2).map { _ in try #require(PasswordHash.make("secret")) }
    #expect(hashes.allSatisfy { $0.hasPrefix("$y$") } && hashes[0] != hashes[1])
    #expect(PasswordHash.verify("secret", hashes[0]))
    #expect(!PasswordHash.verify("Secret", hashes[0]))
    #expect(!PasswordHash.verify("secret", "*") && !PasswordHash.verify("secret", ""))
  }
}

/// Who may have a password hashed, and when.
@Suite(.timeLimit(.minutes(1))) struct HashGateTests {
  private final class Order: Sendable {
    private let names = Mutex<[String]>([])
    var all: [String] { names.withLock { $0 } }
    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  @Test func `those who have failed wait for those who have not, and run one at a time`() async {
    let (gate, order) = (HashGate(lanes: 2), Order())
    #expect(await gate.enter(isSuspect: true) == nil)
    #expect(await gate.enter(isSuspect: false) == nil)
    await withTaskGroup { group in
      for (name, isSuspect) in [("suspect", true), ("trusted", false)] {
        group.addTask {
          _ = await gate.enter(isSuspect: isSuspect)
          order.add(name)
          gate.leave(isSuspect: isSuspect, after: .zero)
        }
        while gate.waiting < (isSuspect ? 1 : 2) { await Task.yield() }
      }
      #expect(order.all == [])
      gate.leave(isSuspect: false, after: .zero)
      while order.all != ["trusted"] { await Task.yield() }
      #expect(gate.waiting == 1, "one suspect runs, so the other waits though a lane is free")
      gate.leave(isSuspect: true, after: .zero)
    }
    #expect(order.all == ["trusted", "suspect"])
  }

  @Test func `whoever would wait too long is told when to come back`() async {
    let gate = HashGate(lanes: 1)
    #expect(await gate.enter(isSuspect: false) == nil)
    gate.leave(isSuspect: false, after: .seconds(800))  // a hash now counts as 100 seconds
    #expect(await gate.enter(isSuspect: false) == nil)
    await withTaskGroup { group in
      group.addTask { _ = await gate.enter(isSuspect: false) }
      while gate.waiting < 1 { await Task.yield() }
      #expect(await gate.enter(isSuspect: false) == 100)
      gate.leave(isSuspect: false, after: .zero)
    }
  }
}
