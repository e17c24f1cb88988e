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

@Suite(.timeLimit(.minutes(1))) struct DeviceTokenTests {
  private static let path = "/api/notifications/0"

  /// A token of a device, which has to be given.
  private func token(
    of registration: String, as user: String, _ server: TestServer
  ) async throws -> String {
    let answer = try await server.execute(
      "POST", "/api/register/\(registration)/token", as: user)
    #expect(answer.status == 201 && answer.fields["Cache-Control"] == "no-store")
    return try #require(answer.json["token"] as? String)
  }

  private func status(_ token: String, _ server: TestServer) async throws -> Int {
    try await server.execute("GET", "/api/notifications", token: token).status
  }

  @Test func `opens what its user receives, and says which device fetched`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      let id = try await server.register("AA", as: "device")
      let token = try await token(of: id, as: "device", server)
      #expect(token.utf8.count == 43)
      try await server.publish()
      for isCached in [false, true] {
        let media = try await server.execute("GET", Self.path, token: token)
        #expect(media.status == 200 && media.isCached == isCached)
      }
      try await eventually("the receipt names the device") {
        let details = try await server.execute("GET", Self.path + "/details", as: "publisher")
        let devices = details.objects("receipts").first?["devices"] as? [[String: Any]]
        return devices?.first?["registration"] as? String == id
          && devices?.first?["fetched"] is String
      }
    }
  }

  @Test func `has the rights of a device, whatever its user's role is`() async throws {
    try await TestServer.test { server in
      for user in ["publisher", "admin"] {
        let id = try await server.register("A" + (user == "admin" ? "A" : "B"), as: user)
        let token = try await token(of: id, as: user, server)
        #expect(try await status(token, server) == 200)
        for path in ["/api/assets", "/api/events/stream", "/api/plugins"] {
          let answer = try await server.execute("GET", path, token: token)
          #expect(answer.status == 403, "\(user) \(path)")
        }
      }
    }
  }

  @Test func `a device has at most two; the third ends the first`() async throws {
    try await TestServer.test { server in
      let id = try await server.register("AA", as: "device")
      var tokens: [String] = []
      for _ in 0..<3 {
        tokens.append(try await token(of: id, as: "device", server))
        #expect(try await status(tokens[0], server) == (tokens.count == 3 ? 401 : 200))
      }
      for token in tokens.suffix(2) { #expect(try await status(token, server) == 200) }
      #expect(Set(tokens).count == 3)
    }
  }

  /// What ends a token.
  enum End: CaseIterable, Sendable {
    case byUser, byAdmin, registration, handleOfAnother, handleOfAnotherID, password, user
  }

  @Test(arguments: End.allCases)
  func `ends before what ends it is acknowledged`(_ end: End) async throws {
    try await TestServer.test { server in
      let id = try await server.register("AA", as: "device")
      let other = try await server.register("BB", as: "publisher")
      let token = try await token(of: id, as: "device", server)
      let bystander = try await self.token(of: other, as: "publisher", server)
      #expect(try await status(token, server) == 200)
      let accounts = server.store.accounts
      switch end {
      case .byUser, .byAdmin:
        let path = "/api/register/\(id)/token"
        #expect(try await server.status("DELETE", path, as: "publisher") == 404)
        #expect(try await status(token, server) == 200)
        let user = end == .byUser ? "device" : "admin"
        #expect(try await server.status("DELETE", path, as: user) == 204)
      case .registration:
        #expect(try await server.status("DELETE", "/api/register/" + id, as: "device") == 200)
      case .handleOfAnother: _ = try await server.register("AA", as: "publisher")
      case .handleOfAnotherID:
        let body = #"{"Platform":"apns","Handle":"AA","Tags":[]}"#
        #expect(try await server.status("PUT", "/api/register/x", as: "device", body: body) == 200)
      case .password:
        #expect(try await accounts.setPassword(of: "device", hash: "*"))
        try await server.origin.reload()  // as the command makes the server do
      case .user:
        #expect(try await accounts.removeUser("device"))
        try await server.origin.reload()
      }
      let answer = try await server.execute("GET", "/api/notifications", token: token)
      #expect(answer.status == 401)
      #expect(answer.fields["WWW-Authenticate"]?.hasPrefix("Bearer ") == true)
      #expect(try await status(bystander, server) == 200)
    }
  }

  @Test func `an open stream ends with its token`() async throws {
    try await TestServer.test { server in
      let id = try await server.register("AA", as: "device")
      let token = try await token(of: id, as: "device", server)
      let response = try await server.execute("GET", "/api/push/stream", token: token)
      let stream = try #require(response.stream)
      #expect(try await stream.next() != nil)
      let path = "/api/register/\(id)/token"
      #expect(try await server.status("DELETE", path, as: "device") == 204)
      while try await stream.next() != nil {}
    }
  }

  @Test(arguments: ["", "x", String(repeating: "A", count: 43), String(repeating: "ä", count: 43)])
  func `a wrong token opens nothing`(_ token: String) async throws {
    try await TestServer.test { server in
      let status = try await status(token, server)
      #expect(status == 401)
    }
  }

  @Test func `only its hash is stored`() async throws {
    try await TestServer.test { server in
      let id = try await server.register("AA", as: "device")
      let token = try await token(of: id, as: "device", server)
      _ = try await status(token, server)
      let folder = URL(filePath: server.configuration.data)
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
      where name.hasPrefix("richpush.db") {
        let bytes = try Data(contentsOf: folder.appending(path: name))
        #expect(bytes.range(of: Data(token.utf8)) == nil, "\(name)")
      }
    }
  }
}
