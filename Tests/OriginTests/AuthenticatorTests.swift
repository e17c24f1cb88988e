import Foundation
import Store
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

  @Test func `the demo lets in whoever has the name as password, and nobody else`() throws {
    let scratch = try Scratch()
    let authenticator = Authenticator(store: try scratch.store(), isDemo: true)
    guard case .caller(let caller) = authenticator.find(basic("zoe:zoe")) else {
      Issue.record("The demo did not let its guest in.")
      return
    }
    #expect(caller.mayPublish)
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
