import Foundation
import HTTP
import RichPushAPI
import TestSupport
import Testing

@testable import Origin
@testable import Store

/// Adding a device by a code instead of a password.
@Suite(.timeLimit(.minutes(2))) struct PairingRoutesTests {
  /// Makes a code for a user.
  private func make(
    _ server: TestServer, as user: String = "device", body: String = ""
  ) async throws -> IssuedPairing {
    let answer = try await server.execute("POST", "/api/pairings", as: user, body: body)
    try #require(answer.status == 201, "\(answer.detail ?? "")")
    return try JSONCoding.decode(from: answer.bytes)
  }

  private func pair(
    _ server: TestServer, _ code: String, _ members: String = "", peer: String = "192.0.2.1",
    path: String = "/api/pair"
  ) async throws -> TestResponse {
    try await server.execute(
      "POST", path, body: #"{"code":"\#(code)"\#(members)}"#, peer: peer)
  }

  @Test func `a code makes a device that reads the inbox at once and gets pushes later`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      let code = try await make(server)
      #expect(code.user == "device" && code.code.utf8.count == 22)
      #expect(code.shortCode.wholeMatch(of: /[A-HJKMNP-Z2-9]{8}/) != nil)
      #expect(code.link == "http://localhost/app/#pair=\(code.code)")
      #expect(code.qrCode == QRCode(code.link)?.texts)
      #expect(code.expires.timeIntervalSince(code.created) == 900)
      let paired = try await pair(
        server, code.code, #","name":"Anna's iPhone","language":"de-CH","timeZone":"Europe/Zurich""#
      )
      #expect(paired.status == 201 && paired.fields["Cache-Control"] == "no-store")
      #expect(paired.json["user"] as? String == "device")
      let token = try #require(paired.json["token"] as? String)
      let id = try #require(paired.json["registration"] as? String)
      let inbox = try await server.execute("GET", "/api/notifications", token: token)
      #expect(inbox.objects("notifications").count == 1)
      let list = try await server.execute("GET", "/api/registrations", token: token)
      let device = try #require(list.objects("devices").first)
      #expect(device["registration"] as? String == id && device["platform"] as? String == nil)
      #expect(device["name"] as? String == "Anna's iPhone")
      #expect(device["credential"] as? String == "code")
      #expect(device["language"] as? String == "de-CH")
      let audience = try await server.execute(
        "GET", "/api/audience?to=username:device", as: "publisher")
      #expect(audience.json["users"] as? Int == 1)
      #expect((audience.json["devices"] as? [String: Int])?.isEmpty == true)
      let put = try await server.execute(
        "PUT", "/api/register/\(id)", token: token,
        body: #"{"Platform":"apns","Handle":"AABB","Tags":["news"]}"#)
      #expect(put.status == 200, "\(put.detail ?? "")")
      let reached = try await server.execute("GET", "/api/audience?to=news", as: "publisher")
      #expect(reached.json["devices"] as? [String: Int] == ["apns": 1])
    }
  }

  @Test func `it is used once, however it is written, and says so to all others`() async throws {
    try await TestServer.test { server in
      let code = try await make(server)
      let typed = code.shortCode.lowercased()
      let short = " \(typed.prefix(4)) - \(typed.suffix(4))"
      let answers = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<10 {
          group.addTask {
            try await pair(server, number.isMultiple(of: 2) ? code.code : short).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.sorted() == [201] + Array(repeating: 410, count: 9))
      let again = try await pair(server, short)
      #expect(again.status == 410 && again.code == "gone")
      let devices = try await server.execute("GET", "/api/registrations", as: "device")
      #expect(devices.objects("devices").count == 1)
    }
  }

  @Test func `a preview robot that opens the link changes nothing`() async throws {
    try await TestServer.test { server in
      let code = try await make(server)
      for target in [
        "/app/", "/app/?pair=\(code.code)", "/api/pair", "/api/pair?code=\(code.code)",
      ] {
        for method in ["GET", "HEAD"] { _ = try await server.status(method, target) }
      }
      #expect(try await pair(server, code.code).status == 201)
    }
  }

  @Test func `an expired, a revoked and a guessed code are no use`() async throws {
    try await TestServer.test { server in
      let (expired, revoked) = (try await make(server), try await make(server))
      let tables = try #require(server.store.tables as? SQLiteTables)
      // Not long ago: the clean-up, which begins with the server, removes what expired days before.
      try await tables.database.run(
        "UPDATE pairing SET expires = $1 WHERE id = $2", Date(timeIntervalSinceNow: -1), expired.id)
      #expect(
        try await server.status("DELETE", "/api/pairings/\(revoked.id)", as: "publisher") == 404)
      #expect(try await server.status("DELETE", "/api/pairings/\(revoked.id)", as: "device") == 204)
      #expect(try await server.status("DELETE", "/api/pairings/\(revoked.id)", as: "device") == 404)
      for code in [expired.code, expired.shortCode, revoked.code, revoked.shortCode] {
        #expect(try await pair(server, code).status == 410)
        #expect(try await pair(server, code, path: "/api/pair/forward").status == 410)
      }
      for guess in ["", "ABCDEFGH", "gT5xPZ0aJ_-XcQe1vB9kLw", "ABCDEFG1", "'; DROP TABLE pairing"] {
        #expect(try await pair(server, guess).status == 404, "\(guess)")
      }
      #expect(try await server.store.accounts.registrations(ofUser: server.id(of: "device")) == [])
    }
  }

  @Test func `after ten wrong codes an address has to wait, and no other`() async throws {
    try await TestServer.test { server in
      let code = try await make(server)
      for _ in 0..<10 { #expect(try await pair(server, "ABCDEFGH").status == 404) }
      let blocked = try await pair(server, code.code)
      #expect(blocked.status == 429 && blocked.fields["Retry-After"] != nil)
      #expect(try await pair(server, code.code, path: "/api/pair/forward").status == 429)
      let refused = try await server.execute("GET", "/api/failed-logins", as: "admin")
      #expect(refused.objects("refused").map { $0["address"] as? String } == ["192.0.2.1"])
      // Passwords from there are checked as before.
      let login = try await server.execute(
        "GET", "/api/notifications", as: "device", peer: "192.0.2.1")
      #expect(login.status == 200)
      #expect(try await pair(server, code.code, peer: "192.0.2.2").status == 201)
      for _ in 0..<30 {
        #expect(try await pair(server, code.code, peer: "192.0.2.3").status == 410)
      }
    }
  }

  @Test func `many guesses at the same moment are not more than ten`() async throws {
    try await TestServer.test { server in
      let answers = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<40 { group.addTask { try await pair(server, "ABCDEFGH").status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.filter { $0 == 404 }.count <= 11, "one more may be forgotten meanwhile")
      #expect(answers.filter { $0 == 429 }.count >= 29)
    }
  }

  @Test func `only an admin makes and sees codes of others, and nobody does with a token`()
    async throws
  {
    try await TestServer.test { server in
      let body = #"{"user":"device"}"#
      #expect(try await server.status("POST", "/api/pairings", as: "publisher", body: body) == 403)
      #expect(try await server.status("GET", "/api/pairings?user=device", as: "publisher") == 403)
      #expect(
        try await server.status("POST", "/api/pairings", as: "admin", body: #"{"user":"no"}"#)
          == 404)
      #expect(
        try await server.status("POST", "/api/pairings", as: "admin", body: #"{"users":"a"}"#)
          == 400)
      let code = try await make(server, as: "admin", body: body)
      #expect(code.user == "device")
      let all = try await server.execute("GET", "/api/pairings?user=device", as: "admin")
      #expect(all.objects("pairings").map { $0["id"] as? Int } == [code.id])
      #expect(!all.text.contains(code.code) && !all.text.contains(code.shortCode))
      let own = try await server.execute("GET", "/api/pairings", as: "device")
      #expect(own.objects("pairings").map { $0["user"] as? String } == ["device"])
      let paired = try await pair(server, code.code)
      let token = try #require(paired.json["token"] as? String)
      for method in ["GET", "POST"] {
        #expect(try await server.execute(method, "/api/pairings", token: token).status == 403)
      }
      for _ in 0..<5 { _ = try await make(server) }
      let sixth = try await server.execute("POST", "/api/pairings", as: "device")
      #expect(sixth.status == 409 && sixth.detail?.contains("revoke one") == true)
    }
  }

  @Test func `the link begins with the public URL, or as the page was opened`() async throws {
    try await TestServer.test { server in
      let answer = try await server.execute(
        "POST", "/api/pairings", as: "device", fields: ["Host": "push.example:8443"],
        isSecure: true)
      #expect(
        (answer.json["link"] as? String)?.hasPrefix("https://push.example:8443/app/#") == true)
    }
    try await TestServer.test(prepare: { configuration, _ in
      try configuration.usePublicURL("https://push.example/rich/")
    }) { server in
      let code = try await make(server)
      #expect(code.link.hasPrefix("https://push.example/rich/app/#pair="))
    }
  }

  @Test func `another code takes its place for the app on the home screen`() async throws {
    try await TestServer.test { server in
      let code = try await make(server)
      let next = try await pair(server, code.code, path: "/api/pair/forward")
      #expect(next.status == 201 && next.fields["Cache-Control"] == "no-store")
      let second = try #require(next.json["code"] as? String)
      #expect(second.utf8.count == 22 && second != code.code)
      #expect(try await pair(server, code.code).status == 410)
      #expect(try await pair(server, code.shortCode).status == 410)
      let paired = try await pair(server, second)
      #expect(paired.status == 201 && paired.json["user"] as? String == "device")
    }
  }

  @Test func `a chosen id is the device's, unless somebody else has it`() async throws {
    try await TestServer.test { server in
      let theirs = try await server.register("AA", as: "publisher")
      let code = try await make(server)
      #expect(try await pair(server, code.code, #","registration":"\#(theirs)""#).status == 403)
      #expect(try await pair(server, code.code, #","registration":"a b""#).status == 400)
      #expect(try await pair(server, code.code, #","timeZone":"Mars""#).status == 422)
      let paired = try await pair(server, code.code, #","registration":"my-phone""#)
      #expect(paired.status == 201 && paired.json["registration"] as? String == "my-phone")
    }
  }

  @Test func `a user with as many devices as allowed is told, and keeps the code`() async throws {
    try await TestServer.test { server in
      _ = try await server.store.accounts.setMaxDevices(of: "device", to: 1)
      let id = try await server.register("AA", as: "device")
      let code = try await make(server)
      let full = try await pair(server, code.code)
      #expect(full.status == 409 && full.detail?.contains("devices are registered") == true)
      #expect(try await server.status("DELETE", "/api/register/\(id)", as: "device") == 200)
      #expect(try await pair(server, code.code).status == 201)
    }
  }

  @Test func `a new password ends the codes`() async throws {
    try await TestServer.test { server in
      let code = try await make(server)
      let change = try await server.execute(
        "PUT", "/api/password", as: "device",
        body: #"{"old":"\#(TestServer.password)","new":"another-good-secret"}"#)
      #expect(change.status == 204, "\(change.detail ?? "")")
      #expect(try await pair(server, code.code).status == 410)
    }
  }

  @Test func `a guest of the demonstration pairs a phone, also one who never signed in`()
    async throws
  {
    try await TestServer.test(prepare: { configuration, _ in configuration.isDemo = true }) {
      server in
      func guest(_ name: String, _ body: String = "") async throws -> TestResponse {
        try await server.execute(
          "POST", "/api/pairings",
          fields: ["Authorization": TestServer.authorization(name, password: name)], body: body)
      }
      let own = try await guest("alice")
      let code = try #require(own.json["code"] as? String)
      let paired = try await pair(server, code)
      #expect(paired.json["user"] as? String == "alice")
      let token = try #require(paired.json["token"] as? String)
      #expect(try await server.execute("GET", "/api/notifications", token: token).status == 200)
      let other = try await guest("admin", #"{"user":"never-seen"}"#)
      #expect(other.status == 201 && other.json["user"] as? String == "never-seen")
      let second = try await pair(server, try #require(other.json["code"] as? String))
      #expect(second.json["user"] as? String == "never-seen")
    }
  }
}
