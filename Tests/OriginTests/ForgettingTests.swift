import Foundation
import Store
import Testing

@testable import Origin

@Suite struct ForgettingTests {
  private let field = "Basic " + Data("alice:secret".utf8).base64EncodedString()

  @Test func `a user who is removed, or gets another password, is a stranger again`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let authenticator = Authenticator(store: store, isDemo: false)
    let hash = try #require(PasswordHash.make("secret"))
    let credentials = try #require(Credentials(field))
    try await store.addUser("alice", hash: hash, role: .device)
    let alice = try #require(try store.user(named: "alice")).id
    _ = await authenticator.verify(credentials, field, from: "::1")
    #expect(authenticator.forgetChanged().isEmpty && isKnown(authenticator))

    #expect(try await store.setPassword(of: "alice", hash: PasswordHash.make("other") ?? ""))
    #expect(authenticator.forgetChanged() == [alice])
    #expect(!isKnown(authenticator))
    #expect(await authenticator.verify(credentials, field, from: "::1").caller == nil)

    #expect(try await store.setPassword(of: "alice", hash: hash))
    _ = await authenticator.verify(credentials, field, from: "::1")
    _ = try await store.removeUser("alice")
    #expect(authenticator.forgetChanged() == [alice])
    #expect(!isKnown(authenticator))
  }

  private func isKnown(_ authenticator: Authenticator) -> Bool {
    if case .caller = authenticator.find(field) { true } else { false }
  }
}
