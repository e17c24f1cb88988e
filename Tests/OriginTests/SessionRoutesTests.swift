import Foundation
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import HTTP
@testable import Origin

/// Signing in on web pages by a cookie, which must be of no use to other pages.
@Suite(.timeLimit(.minutes(1))) struct SessionRoutesTests {
  private static let own: Fields = ["Sec-Fetch-Site": "same-origin"]

  private func body(_ name: String, _ password: String = TestServer.password) -> String {
    #"{"username":"\#(name)","password":"\#(password)"}"#
  }

  private func cookie(_ answer: TestResponse) throws -> String {
    let field = try #require(answer.fields["Set-Cookie"])
    return String(field.prefix { $0 != ";" })
  }

  private func signIn(_ server: TestServer, _ name: String = "publisher") async throws -> String {
    let answer = try await server.execute(
      "POST", "/api/session", fields: Self.own, body: body(name))
    try #require(answer.status == 204, "\(answer.detail ?? "")")
    return try cookie(answer)
  }

  private func status(
    _ server: TestServer, _ method: String, _ target: String, _ fields: Fields, body: String = ""
  ) async throws -> Int {
    try await server.execute(method, target, fields: fields, body: body).status
  }

  private func ask(
    _ server: TestServer, _ target: String, with cookie: String, _ method: String = "GET"
  ) async throws -> TestResponse {
    var fields = Self.own
    fields["Cookie"] = cookie
    return try await server.execute(method, target, fields: fields)
  }

  @Test func `a page signs in, is known by its cookie, and signs out`() async throws {
    try await TestServer.test { server in
      let answer = try await server.execute(
        "POST", "/api/session", fields: ["Sec-Fetch-Site": "same-origin", "User-Agent": "Browser"],
        body: body("publisher"))
      #expect(answer.status == 204)
      let field = try #require(answer.fields["Set-Cookie"])
      let form = /richpush=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200/
      #expect(field.wholeMatch(of: form) != nil, "\(field)")
      let own = try cookie(answer)
      let found = try await ask(server, "/api/session", with: "other=1; " + own)
      #expect(found.json["username"] as? String == "publisher")
      #expect(found.json["role"] as? String == "publisher")
      #expect(found.json["demo"] as? Bool == false)
      let sessions = found.objects("sessions")
      #expect(sessions.map { $0["userAgent"] as? String } == ["Browser"])
      #expect(found.json["current"] as? Int == sessions.first?["id"] as? Int)
      #expect(try await ask(server, "/api/assets", with: own).status == 200)
      #expect(try await ask(server, "/api/plugins", with: own).status == 403, "its role counts")
      let out = try await ask(server, "/api/session", with: own, "DELETE")
      #expect(out.status == 204)
      #expect(out.fields["Set-Cookie"]?.contains("richpush=; Path=/; HttpOnly") == true)
      let after = try await ask(server, "/api/assets", with: own)
      #expect(after.status == 401)
      #expect(after.fields["WWW-Authenticate"] == "Cookie realm=\"richpush\"", "no box for Basic")
      let id = try await server.id(of: "publisher")
      #expect(try await server.store.sessions.sessions(of: id).isEmpty)
    }
  }

  @Test func `a token in the place of the password begins no session, which would allow more`()
    async throws
  {
    try await TestServer.test { server in
      let id = try await server.id(of: "admin")
      let (access, device) = (AccessToken(), DeviceToken())
      _ = try await server.store.accessTokens.addAccessToken(
        access.hash, "ci", AccessTokenScope(), of: id)
      _ = try await server.store.accounts.putRegistration(
        "phone", user: id, platform: "apns", handle: "AA")
      _ = try await server.store.accounts.addToken(device.hash, to: "phone", user: id)
      let cookie = try await signIn(server, "admin")
      for (token, query) in [(access.text, "?sent"), (device.text, "")] {
        // It counts where it may, and is remembered.
        let basic: Fields = ["Authorization": TestServer.authorization("admin", password: token)]
        #expect(try await status(server, "GET", "/api/notifications" + query, basic) == 200)
        let answer = try await server.execute(
          "POST", "/api/session", fields: Self.own, body: body("admin", token))
        #expect(answer.status == 401 && answer.fields["Set-Cookie"] == nil)
        var fields = Self.own
        fields["Cookie"] = cookie
        let change = #"{"old":"\#(token)","new":"a much longer secret"}"#
        #expect(try await status(server, "PUT", "/api/password", fields, body: change) == 403)
      }
      #expect(try await server.store.sessions.sessions(of: id).count == 1)
    }
  }

  @Test func `a page can ask whether it is signed in, and gets no 401`() async throws {
    try await TestServer.test { server in
      func state(_ cookie: String, _ fields: Fields = Self.own) async throws -> Bool? {
        var fields = fields
        fields["Cookie"] = cookie
        let answer = try await server.execute("GET", "/api/sign-in", fields: fields)
        #expect(answer.status == 200 && answer.json["demo"] as? Bool == false)
        return answer.json["signedIn"] as? Bool
      }
      let cookie = try await signIn(server)
      #expect(try await state(cookie) == true)
      #expect(try await state("") == false)
      #expect(try await state("richpush=" + String(repeating: "A", count: 43)) == false)
      #expect(try await state(cookie, ["Sec-Fetch-Site": "cross-site"]) == false, "no other page")
      _ = try await ask(server, "/api/session", with: cookie, "DELETE")
      #expect(try await state(cookie) == false)
    }
  }

  @Test func `a new password needs the old one, and ends all other sign-ins`() async throws {
    try await TestServer.test { server in
      func change(_ cookie: String, _ old: String, _ new: String) async throws -> TestResponse {
        var fields = Self.own
        fields["Cookie"] = cookie
        return try await server.execute(
          "PUT", "/api/password", fields: fields, body: #"{"old":"\#(old)","new":"\#(new)"}"#)
      }
      let (own, other) = (try await signIn(server), try await signIn(server))
      let device = try await server.register("C0FFEE", as: "publisher")
      let made = try await server.execute(
        "POST", "/api/register/\(device)/token", as: "publisher")
      let token = try #require(made.json["token"] as? String)
      let new = "a much longer secret"
      let refused = try await change(own, "wrong", new)
      #expect(refused.status == 403 && refused.detail == "The old password is wrong.")
      #expect(
        try await change(own, TestServer.password, "publisher").status == 422, "easily guessed")
      for (old, status) in [("", 403), ("a:b", 403)] {
        #expect(try await change(own, old, new).status == status)
      }
      #expect(try await ask(server, "/api/session", with: own).status == 200, "nothing has changed")
      let byToken = try await server.execute(
        "PUT", "/api/password", token: token,
        body: #"{"old":"\#(TestServer.password)","new":"\#(new)"}"#)
      #expect(byToken.status == 403)
      let changed = try await change(own, TestServer.password, new)
      #expect(changed.status == 204)
      #expect(try await ask(server, "/api/session", with: cookie(changed)).status == 200)
      for ended in [own, other] {
        #expect(try await ask(server, "/api/session", with: ended).status == 401)
      }
      let byDevice = try await server.execute("GET", "/api/notifications", token: token)
      #expect(byDevice.status == 401)
      for (password, expected) in [(TestServer.password, 401), (new, 200)] {
        let fields: Fields = [
          "Authorization": TestServer.authorization("publisher", password: password)
        ]
        #expect(try await status(server, "GET", "/api/session", fields) == expected)
      }
    }
  }

  @Test func `over https the cookie is bound to the host, over http it stays on this machine`()
    async throws
  {
    try await TestServer.test { server in
      func signIn(
        _ fields: Fields = [:], peer: String = "127.0.0.1", isSecure: Bool = false,
        isForwarded: Bool = false
      ) async throws -> TestResponse {
        try await server.execute(
          "POST", "/api/session", fields: fields, body: body("publisher"), peer: peer,
          isSecure: isSecure, isPeerForwarded: isForwarded)
      }
      let secure = try await signIn(peer: "198.51.100.7", isSecure: true, isForwarded: true)
      #expect(secure.status == 204)
      let field = try #require(secure.fields["Set-Cookie"])
      #expect(field.hasPrefix("__Host-richpush=") && field.contains("; Path=/; Secure; HttpOnly"))
      let refused = try await signIn(peer: "198.51.100.7")
      #expect(refused.status == 403 && refused.fields["Set-Cookie"] == nil)
      #expect(refused.detail?.contains("https") == true)
      // A proxy that is not trusted connects from this machine.
      let proxied = try await signIn(["X-Forwarded-For": "198.51.100.7"])
      #expect(proxied.status == 403)
      let plain = try await signIn(peer: "::1")
      #expect(plain.fields["Set-Cookie"]?.hasPrefix("richpush=") == true)
      // Each cookie counts only on the kind of connection it was made for.
      for (answer, isSecure) in [(secure, false), (plain, true)] {
        var fields = Self.own
        fields["Cookie"] = try cookie(answer)
        let found = try await server.execute(
          "GET", "/api/session", fields: fields, isSecure: isSecure)
        #expect(found.status == 401)
      }
      var fields = Self.own
      fields["Cookie"] = try cookie(plain)
      let remote = try await server.execute(
        "GET", "/api/session", fields: fields, peer: "198.51.100.7")
      #expect(remote.status == 401)
    }
  }

  @Test func `the word of a trusted proxy decides, and of no other`() async throws {
    for isTrusted in [true, false] {
      try await TestServer.test(prepare: { configuration, _ in
        configuration.proxies = isTrusted ? ["127.0.0.1"] : []
      }) { server in
        func signIn(_ fields: String...) async -> (status: Int, cookie: String?, body: String) {
          let connection = server.connect()
          let body = body("publisher")
          let lines = fields.map { $0 + "\r\n" }.joined()
          connection.send(
            "POST /api/session HTTP/1.1\r\nHost: push.example\r\nConnection: close\r\n\(lines)"
              + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
          let answer = await connection.answer()
          return (answer.status, answer.fields["set-cookie"], answer.text)
        }
        let secure = await signIn("X-Forwarded-For: 198.51.100.7", "X-Forwarded-Proto: https")
        #expect(secure.status == (isTrusted ? 204 : 403))
        if isTrusted {
          #expect(secure.cookie?.hasPrefix("__Host-richpush=") == true)
          #expect(secure.cookie?.contains("; Path=/; Secure; HttpOnly; SameSite=Strict") == true)
        } else {
          #expect(secure.cookie == nil)
        }
        let plain = await signIn("X-Forwarded-For: 198.51.100.7", "X-Forwarded-Proto: http")
        #expect(plain.status == 403 && plain.cookie == nil)
        #expect(plain.body.contains("Sign-in over plain http is possible only on the server's own"))
        let own = await signIn()
        #expect(own.status == 204 && own.cookie?.hasPrefix("richpush=") == true)
        #expect(own.cookie?.contains("Secure") == false)
      }
    }
  }

  /// What pages of other origins, other ports, frames and old browsers send along with the cookie.
  private static let forged: [Fields] = [
    [:], ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
    ["Sec-Fetch-Site": "none"], ["Sec-Fetch-Site": ""],
    ["Sec-Fetch-Site": "same-origin, cross-site"],
    ["Sec-Fetch-Site": "SAME-ORIGIN"], ["Sec-Fetch-Site": "same-origin;x"],
    ["Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:8080"],
    ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"],
    ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"],
    ["Origin": "null"], ["Origin": "https://evil.example"], ["Origin": ""],
    ["Origin": "https://127.0.0.1:8080"], ["Origin": "http://127.0.0.1"],
    ["Origin": "http://127.0.0.1:8081"], ["Origin": "http://127.0.0.1:8080.evil.example"],
    ["Origin": "http://evil.example@127.0.0.1:8080"], ["Referer": "http://127.0.0.1:8080/console/"],
    ["Origin": "https://evil.example", "X-Forwarded-Host": "evil.example"],
    ["Origin": "http://127.0.0.1:8080, https://evil.example"],
  ]

  @Test func `requests that another page forges are those of a stranger`() async throws {
    let origins: Set = ["https://evil.example", "http://127.0.0.1:8081"]
    for allowed in [[], origins, ["*"]] as [Set<String>] {
      try await TestServer.test(prepare: { configuration, scratch in
        configuration.origins = allowed
        try scratch.installNote()
      }) { server in
        let own = try await signIn(server, "admin")
        for var fields in Self.forged {
          fields["Cookie"] = own
          fields["Host"] = "127.0.0.1:8080"
          for (method, target, body) in [
            ("GET", "/api/session", ""), ("GET", "/api/assets", ""),
            ("GET", "/api/events/stream", ""), ("DELETE", "/api/session", ""),
            ("POST", "/api/notifications", TestServer.notification()),
          ] {
            let status = try await status(server, method, target, fields, body: body)
            #expect(status == 401, "\(method) \(target) \(fields)")
          }
        }
        let sent = try await server.store.notifications.notification(0)
        #expect(sent == nil)
        // An old browser of an own page names the origin only.
        let fields: Fields = [
          "Cookie": own, "Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:8080",
        ]
        #expect(try await status(server, "GET", "/api/session", fields) == 200)
      }
    }
  }

  @Test func `another page cannot sign in either`() async throws {
    try await TestServer.test { server in
      for fields in Self.forged where fields["Origin"] != nil || fields["Sec-Fetch-Site"] != nil {
        var fields = fields
        fields["Host"] = "127.0.0.1:8080"
        let answer = try await server.execute(
          "POST", "/api/session", fields: fields, body: body("admin"))
        #expect(answer.status == 403 && answer.fields["Set-Cookie"] == nil, "\(fields)")
      }
    }
  }

  @Test func `a real connection with --cors-origin lets no page use the cookie`() async throws {
    try await TestServer.test(prepare: { configuration, _ in
      configuration.origins = ["https://evil.example"]
    }) { server in
      let own = try await signIn(server)
      for (site, status) in [("cross-site", 401), ("same-origin", 200)] {
        let connection = server.connect()
        connection.send(
          "GET /api/session HTTP/1.1\r\nHost: x\r\nCookie: \(own)\r\nSec-Fetch-Site: \(site)\r\n"
            + "Origin: https://evil.example\r\n\r\n")
        let answer = await connection.answer()
        #expect(answer.status == status)
        #expect(answer.fields["access-control-allow-credentials"] == nil)
      }
    }
  }

  @Test func `it is no credential for media`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish(to: ["publisher"])
      let own = try await signIn(server)
      for target in ["/api/notifications/0", "/api/notifications/0?width=64", "/media/0/original"] {
        let status = try await ask(server, target, with: own).status
        #expect(status == (target.hasPrefix("/media") ? 403 : 401), "\(target)")
        #expect(try await ask(server, target, with: own, "HEAD").status == status)
      }
      #expect(try await ask(server, "/api/notifications/0/details", with: own).status == 200)
    }
  }

  @Test func `a new password, a removal and a 21st session end it, streams included`() async throws
  {
    try await TestServer.test { server in
      try await server.addUser("dora", .publisher)
      try await server.addUser("emil", .publisher)
      for name in ["dora", "emil"] {
        let own = try await signIn(server, name)
        let stream = try #require(try await ask(server, "/api/push/stream", with: own).stream)
        if name == "dora" {
          #expect(try await server.store.accounts.setPassword(of: name, hash: "*"))
        } else {
          #expect(try await server.store.accounts.removeUser(name))
        }
        try await server.origin.housekeeping.reload()
        while try await stream.next() != nil {}
        #expect(try await ask(server, "/api/session", with: own).status == 401, "\(name)")
      }
      let first = try await signIn(server)
      for _ in 0..<20 { _ = try await signIn(server) }
      #expect(try await ask(server, "/api/session", with: first).status == 401)
    }
  }

  @Test func `a user lists and ends own sessions, and nobody else's`() async throws {
    try await TestServer.test { server in
      let (one, two) = (try await signIn(server), try await signIn(server))
      let other = try await signIn(server, "device")
      let current = try await ask(server, "/api/session", with: one).json["current"] as? Int
      let id = try #require(current)
      #expect(try await ask(server, "/api/session/\(id)", with: other, "DELETE").status == 404)
      #expect(try await ask(server, "/api/session/\(id)", with: two, "DELETE").status == 204)
      #expect(try await ask(server, "/api/session", with: one).status == 401)
      #expect(try await ask(server, "/api/session", with: two).objects("sessions").count == 1)
      #expect(try await ask(server, "/api/session/x", with: two, "DELETE").status == 404)
    }
  }

  @Test func `wrong passwords are limited like those of other requests`() async throws {
    try await TestServer.test { server in
      for attempt in 0..<11 {
        let answer = try await server.execute(
          "POST", "/api/session", body: body("publisher", "guess\(attempt)"), peer: "127.0.0.9")
        #expect(answer.status == (attempt < 10 ? 401 : 429))
        #expect(answer.fields["WWW-Authenticate"]?.contains("Basic") != true)
      }
      let basic = try await server.execute("GET", "/api/assets", as: "publisher", peer: "127.0.0.9")
      #expect(basic.status == 429, "they share the count")
    }
  }

  @Test func `two cookies of the name, and a token of another form, are none`() async throws {
    try await TestServer.test { server in
      let own = try await signIn(server)
      for cookies in [own + "; " + own, own + "x", "richpush=", "x" + own, own.uppercased()] {
        #expect(try await ask(server, "/api/session", with: cookies).status == 401, "\(cookies)")
      }
      let token = String(own.dropFirst("richpush=".utf8.count))
      for field in ["Bearer \(token)", "session \(token)"] {
        let fields: Fields = ["Authorization": field]
        #expect(try await status(server, "GET", "/api/session", fields) == 401)
      }
    }
  }
}
