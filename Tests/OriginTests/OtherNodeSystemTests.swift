import Foundation
import HTTP
import Primitives
import StandIns
import Store
import Synchronization
import TestSupport
import Testing
import Waiting

@testable import Origin

/// What ends on one node ends on the others with the same database, which remember who was there.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"),
  .timeLimit(.minutes(2)))
struct OtherNodeSystemTests {
  private static let own: Fields = ["Sec-Fetch-Site": "same-origin"]

  /// Runs a test with two nodes, of which the second hears of what the first commits.
  private static func withNodes(
    isSecure: Bool = false,
    _ test: (_ one: TestServer, _ other: TestServer) async throws -> Void
  ) async throws {
    let database = try PostgresServer()
    func prepare(_ configuration: inout OriginConfiguration, _ scratch: TestSupport.Scratch) throws
    {
      configuration.database = database.url
      guard isSecure else { return }
      let (certificate, key) = (scratch.path + "/tls.pem", scratch.path + "/tls.key")
      try scratch.write(TestCertificates.one.certificate, to: "tls.pem", mode: 0o600)
      try scratch.write(TestCertificates.one.key, to: "tls.key", mode: 0o600)
      try configuration.useCertificates([certificate], keys: [key])
    }
    try await TestServer.test(prepare: prepare) { one in
      try await TestServer.test(prepare: prepare) { other in
        try await one.addUser("mark", .device)
        let mark = try await one.id(of: "mark")
        let isHeard = Mutex(false)
        other.origin.housekeeping.store.observers.onCredentialsEnded.add { user in
          if user == mark { isHeard.withLock { $0 = true } }
        }
        try await eventually("the second node listens") {
          _ = try await one.store.administration.endCredentials(of: mark)
          return isHeard.withLock { $0 }
        }
        try await test(one, other)
      }
    }
  }

  @Test func `nodes have the same keys of sessions, and others soon after a command`() async throws
  {
    try await Self.withNodes(isSecure: true) { one, other in
      let tickets = try [one, other].map { try #require($0.origin.housekeeping.tickets) }
      let first = tickets.map(\.newestKey)
      #expect(first[0] == first[1] && first[0] > 0)
      // As `richpush key rotate --tls` on any machine.
      try await one.store.tickets.removeTicketKeys()
      try await eventually("both have another") {
        tickets.allSatisfy { $0.newestKey > first[0] }
      }
      #expect(tickets[0].newestKey == tickets[1].newestKey)
    }
  }

  @Test func `an answer at one node reaches the streams of the other, once`() async throws {
    try await Self.withNodes { one, other in
      let push = try await one.pushQuestion()
      let stream = try #require(
        try await other.execute("GET", "/api/events/stream", as: "publisher").stream)
      _ = try await stream.next()
      func reply(_ key: String, at node: TestServer) async throws -> Int {
        try await node.execute(
          "POST", "/api/notifications/0/interactions", token: push.secret,
          body: #"{"event":"reply","action":"answer","text":"\#(key)","key":"\#(key)"}"#
        ).status
      }
      #expect(try await reply("a", at: one) == 201)
      #expect(try await reply("a", at: other) == 200)
      #expect(try await reply("b", at: other) == 201)
      for text in ["a", "b"] {
        #expect(try await stream.nextEvent()?.data.contains(#""text":"\#(text)""#) == true)
      }
      let act = try await other.execute(
        "POST", "/api/notifications/0/interactions" + push.link,
        body: #"{"event":"action","action":"yes"}"#)
      #expect(act.status == 403)
    }
  }

  /// Credentials of the user `publisher`.
  enum Credentials: String, CaseIterable { case session, token, password }

  /// The header fields of a request with them.
  private static func fields(_ credentials: Credentials, _ server: TestServer) async throws
    -> Fields
  {
    switch credentials {
    case .session:
      let answer = try await server.execute(
        "POST", "/api/session", fields: own,
        body: #"{"username":"publisher","password":"\#(TestServer.password)"}"#)
      let cookie = try #require(answer.fields["Set-Cookie"])
      var fields = own
      fields["Cookie"] = String(cookie.prefix { $0 != ";" })
      return fields
    case .token:
      let device = try await server.register("AA", as: "publisher")
      let answer = try await server.execute(
        "POST", "/api/register/\(device)/token", as: "publisher")
      return ["Authorization": "Bearer \(try #require(answer.json["token"] as? String))"]
    case .password:
      return ["Authorization": TestServer.authorization("publisher")]
    }
  }

  private static func end(
    _ credentials: Credentials, _ fields: Fields, _ server: TestServer
  ) async throws {
    let status =
      switch credentials {
      case .session: try await server.execute("DELETE", "/api/session", fields: fields).status
      case .token:
        try await server.status(
          "DELETE", "/api/users/publisher/tokens", as: "admin")
      case .password:
        try await server.status(
          "PUT", "/api/users/publisher", as: "admin",
          body: #"{"role":"publisher","password":"another good secret"}"#)
      }
    #expect((200..<300).contains(status), "\(credentials): \(status)")
  }

  @Test(arguments: Credentials.allCases)
  func `what ends on one node counts on no other, where streams of it end`(
    _ credentials: Credentials
  ) async throws {
    try await Self.withNodes { one, other in
      let fields = try await Self.fields(credentials, one)
      func status() async throws -> Int {
        try await other.execute("GET", "/api/notifications", fields: fields).status
      }
      for _ in 0..<2 { #expect(try await status() == 200) }
      let opened = try await other.execute("GET", "/api/push/stream", fields: fields)
      let stream = try #require(opened.stream)
      #expect(try await stream.next()?.isEmpty == false)
      try await Self.end(credentials, fields, one)
      try await eventually("it counts no more") { try await status() == 401 }
      while try await stream.next() != nil {}
    }
  }

  @Test func `an access token that is removed on one node counts on no other`() async throws {
    try await Self.withNodes { one, other in
      let made = try await one.execute(
        "POST", "/api/tokens", as: "publisher", body: #"{"name":"ci","rate":1}"#)
      let token = try #require(made.json["token"] as? String)
      func status() async throws -> Int {
        try await other.execute("GET", "/api/notifications?sent", token: token).status
      }
      for _ in 0..<2 { #expect(try await status() == 200) }
      let id = try #require(made.json["id"] as? Int)
      #expect(try await one.status("DELETE", "/api/tokens/\(id)", as: "publisher") == 204)
      try await eventually("it counts no more") { try await status() == 401 }
    }
  }

  @Test func `a user who is demoted on one node has the new role on the others`() async throws {
    try await Self.withNodes { one, other in
      let fields = try await Self.fields(.password, other)
      func status() async throws -> Int {
        try await other.execute("GET", "/api/assets", fields: fields).status
      }
      #expect(try await status() == 200)
      #expect(
        try await one.status(
          "PUT", "/api/users/publisher", as: "admin", body: #"{"role":"device"}"#) < 300)
      try await eventually("it has another role") { try await status() == 403 }
    }
  }
}
