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

@Suite(.timeLimit(.minutes(1))) struct ForgettingTests {
  private let field = "Basic " + Data("alice:secret".utf8).base64EncodedString()

  @Test func `the credentials of a removed user, or of an old password, are not accepted`()
    async throws
  {
    let scratch = try Scratch()
    let store = try scratch.store()
    let authenticator = Authenticator(store: store, isDemo: false)
    let hash = try #require(PasswordHash.make("secret"))
    try await store.accounts.addUser("alice", hash: hash, role: .device)
    let alice = await authenticator.verify(field, from: "::1").caller
    let caller = try #require(alice)
    #expect(try await store.isCurrent(caller) && isKnown(authenticator))

    #expect(
      try await store.accounts.setPassword(of: "alice", hash: PasswordHash.make("other") ?? ""))
    authenticator.invalidate(caller.id)
    #expect(try await !store.isCurrent(caller))
    #expect(!isKnown(authenticator))
    #expect(await authenticator.verify(field, from: "::1").caller == nil)

    #expect(try await store.accounts.setPassword(of: "alice", hash: hash))
    _ = await authenticator.verify(field, from: "::1")
    _ = try await store.accounts.removeUser("alice")
    authenticator.invalidate(caller.id)
    #expect(try await !store.isCurrent(caller))
    #expect(!isKnown(authenticator))
  }

  @Test
  func `the next owner of a name is not taken for the one before, with the same password either`()
    async throws
  {
    let scratch = try Scratch()
    let store = try scratch.store()
    let authenticator = Authenticator(store: store, isDemo: false)
    let hash = try #require(PasswordHash.make("secret"))
    try await store.accounts.addUser("alice", hash: hash, role: .device)
    let verified = await authenticator.verify(field, from: "::1").caller
    let first = try #require(verified)
    _ = try await store.accounts.removeUser("alice")
    try await store.accounts.addUser("alice", hash: hash, role: .device)
    authenticator.invalidate(first.id)
    #expect(try await !store.isCurrent(first) && !isKnown(authenticator))
    let second = await authenticator.verify(field, from: "::1").caller
    #expect(second != nil && second?.id != first.id)
  }

  @Test func `a stream is not opened for a user who was removed a moment ago`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    try await store.accounts.addUser("alice", hash: "first", role: .device)
    let alice = try #require(try await store.accounts.user(named: "alice")).id
    let links = try await MediaLinks(store: store, base: nil)
    let streams = EventStreams(
      of: .pushes(store, PushPayloads(store: store, links: links)), store, StreamPermits())
    let context = RequestContext(
      request: try Request("GET", "/api/push/stream"),
      caller: Caller(id: alice, name: "alice", role: .device, proof: .password("first")),
      parameters: [])
    await #expect(throws: Never.self) { try await streams.get(context) }
    #expect(try await store.accounts.setPassword(of: "alice", hash: "another"))
    await #expect(throws: ServiceError.self) { try await streams.get(context) }
    #expect(try await store.accounts.setPassword(of: "alice", hash: "first"))
    await #expect(throws: Never.self) { try await streams.get(context) }
    _ = try await store.accounts.removeUser("alice")
    await #expect(throws: ServiceError.self) { try await streams.get(context) }
  }

  @Test(arguments: [false, true])
  func `a stream that was being opened while its user was changed is closed`(
    isRemoved: Bool
  ) async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    try await store.accounts.addUser("alice", hash: "first", role: .device)
    let alice = try #require(try await store.accounts.user(named: "alice")).id
    let links = try await MediaLinks(store: store, base: nil)
    let streams = EventStreams(
      of: .pushes(store, PushPayloads(store: store, links: links)), store, StreamPermits())
    let response = try await streams.get(
      RequestContext(
        request: try Request("GET", "/api/push/stream"),
        caller: Caller(id: alice, name: "alice", role: .device, proof: .password("first")),
        parameters: []))
    try await store.events.push("{}", to: [alice], pushes: [])
    // A reload now does not find the stream: it is opened when its response is sent.
    if isRemoved {
      _ = try await store.accounts.removeUser("alice")
    } else {
      #expect(try await store.accounts.setPassword(of: "alice", hash: "another"))
    }
    await streams.closeInvalid()
    let stream = try #require(try TestResponse(response).stream)
    while let events = try await stream.next() {
      #expect(events.allSatisfy { $0.data.isEmpty }, "what was pushed is not for it")
    }
  }

  private func isKnown(_ authenticator: Authenticator) -> Bool {
    if case .caller = authenticator.find(field, from: "::1") { true } else { false }
  }
}
