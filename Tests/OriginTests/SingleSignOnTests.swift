import Foundation
import HTTP
import Media
import OpenID
import Primitives
import Push
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// Signing in at a provider of OpenID Connect, which does what it must.
@Suite(.timeLimit(.minutes(2))) struct SingleSignOnTests {
  @Test func `somebody new signs in to the console, and out at the provider, too`() async throws {
    try await SingleSignOn.test { site async throws in
      let begun = try await site.begin()
      let request = begun.request
      #expect(request["client_id"] == "richpush" && request["response_type"] == "code")
      #expect(request["redirect_uri"] == "https://push.example/auth/callback")
      #expect(request["scope"] == "openid profile email")
      #expect(request["code_challenge_method"] == "S256")
      let answer = try await site.finish(begun, code: site.provider.authorize(request))
      #expect(answer.status == 303 && answer.fields["Location"] == "../console/")
      #expect(answer.fields["Cache-Control"] == "no-store")
      let cookies = answer.fields.values(of: "Set-Cookie")
      #expect(cookies.contains { $0.hasPrefix("richpush-sign-in=;") && $0.contains("Max-Age=0") })
      let session = try #require(site.session(answer))
      let found = try await site.ask("GET", "/api/session", with: session)
      #expect(found.json["username"] as? String == "dora")
      #expect(found.json["role"] as? String == "device")
      let state = try await site.ask("GET", "/api/sign-in", with: session)
      #expect(state.json["singleSignOn"] as? String == "SSO")
      #expect(state.json["passwords"] as? Bool == true && state.json["signedIn"] as? Bool == true)
      // A public client proves itself by PKCE alone.
      let form = try #require(site.provider.forms.first)
      #expect(form["client_id"] == "richpush" && form["client_secret"] == nil)
      // Nobody knows a password of hers.
      let change = try await site.ask(
        "PUT", "/api/password", with: session, body: #"{"old":"dora","new":"a-long-secret"}"#)
      #expect(change.status == 409 && change.detail?.contains("SSO") == true)
      for password in ["dora", "*", ""] {
        let basic = TestServer.authorization("dora", password: password)
        let answer = try await site.server.execute(
          "GET", "/api/notifications", fields: ["Authorization": basic])
        #expect(answer.status == 401)
      }
      let out = try await site.ask("DELETE", "/api/session", with: session)
      #expect(out.status == 200)
      let address = try #require(out.json["location"] as? String)
      #expect(address.hasPrefix(site.provider.issuer + "/logout?client_id=richpush&"))
      #expect(address.contains("id_token_hint=ey"))
      #expect(address.contains("post_logout_redirect_uri=https%3A%2F%2Fpush.example%2Fauth%2F"))
      #expect(try await site.ask("GET", "/api/session", with: session).status == 401)
      let back = try await site.server.execute("GET", "/auth/signed-out?state=console")
      #expect(back.status == 303 && back.fields["Location"] == "../console/")
    }
  }

  @Test func `the audit log says who has signed in and who was refused, and from where`()
    async throws
  {
    try await SingleSignOn.test { site async throws in
      #expect(try await site.signIn().status == 303)
      site.provider.tell { $0.claims["aud"] = #""other""# }
      #expect(try await site.signIn().status == 502)
      let entries = try await site.server.store.audit.auditEntries(
        AuditFilter(), before: nil, limit: 3)
      #expect(
        entries.map(\.event.action) == ["sign-in.failed", "session.started", "user.added"])
      #expect(entries.allSatisfy { $0.event.actor.address == "127.0.0.1" })
      #expect(entries[1].event.actor.credential == .provider)
      #expect(entries[1].event.actor.request != nil)
    }
  }

  @Test func `an address that fails again and again has to wait, and right ones do not count`() {
    let failures = FailedLogins(clock: ManualClock())
    for _ in 0..<200 {
      #expect(failures.waitForSignIn(from: "192.0.2.1") == nil)
      failures.signInWasRight(from: "192.0.2.1")
    }
    for _ in 0..<100 { #expect(failures.waitForSignIn(from: "192.0.2.1") == nil) }
    #expect(failures.waitForSignIn(from: "192.0.2.1") != nil)
    #expect(failures.waitForSignIn(from: "192.0.2.2") == nil)
  }

  @Test func `a client with a secret sends it as the provider wants it`() async throws {
    try await SingleSignOn.test(with: { settings in
      let issuer = settings.provider?.issuer ?? ""
      try settings.useProvider(
        issuer, clientID: "rich push", environment: ["RICHPUSH_OIDC_CLIENT_SECRET": "a:b c"])
    }) { site async throws in
      site.provider.tell { behaviour in
        behaviour.claims["aud"] = #""rich push""#
        behaviour.metadata["token_endpoint_auth_methods_supported"] = #"["client_secret_post"]"#
      }
      #expect(try await site.signIn().status == 303)
      let form = try #require(site.provider.forms.first)
      #expect(form["client_id"] == "rich push" && form["client_secret"] == "a:b c")
    }
  }

  @Test func `in the app a code begins, which sets up the device`() async throws {
    try await SingleSignOn.test { site async throws in
      let answer = try await site.signIn(to: "app")
      let location = try #require(answer.fields["Location"])
      #expect(answer.status == 303 && site.session(answer) == nil)
      let code = try #require(location.wholeMatch(of: /\.\.\/app\/#pair=([\w-]{22})/)?.1)
      let body = #"{"code":"\#(code)","name":"Phone"}"#
      let paired = try await site.server.execute("POST", "/api/pair", body: body)
      #expect(paired.status == 201 && paired.json["user"] as? String == "dora")
      #expect(try await site.server.execute("POST", "/api/pair", body: body).status == 410)
      let token = try #require(paired.json["token"] as? String)
      #expect(
        try await site.server.execute("GET", "/api/notifications", token: token).status == 200)
      let out = try await site.server.execute("GET", "/auth/sign-out?to=app")
      #expect(out.fields["Location"]?.hasPrefix(site.provider.issuer + "/logout?") == true)
      #expect(out.fields["Location"]?.contains("state=app") == true)
    }
  }

  @Test func `a sign-in belongs to one browser, and counts once`() async throws {
    try await SingleSignOn.test { site async throws in
      let begun = try await site.begin()
      let other = try await site.begin()
      let code = site.provider.authorize(begun.request)
      for cookie in ["", other.cookie, begun.cookie + "1"] {
        let answer = try await site.finish(begun, code: code, cookie: cookie)
        #expect(answer.status == 400 && answer.text.contains("did not begin in this browser"))
      }
      #expect(site.provider.forms.isEmpty, "the code was shown to nobody")
      #expect(try await site.finish(begun, code: code).status == 303)
      // The browser sends everything again, and the provider refuses the code.
      #expect(try await site.finish(begun, code: code).status == 502)
      // A provider that takes a code twice does not make it count twice.
      let second = site.provider.authorize(begun.request)
      let again = try await site.finish(begun, code: second, language: "de")
      #expect(again.status == 400 && again.text.contains("schon verwendet"))
      #expect(site.session(again) == nil)
      // Two states, two codes, none.
      let third = try await site.begin()
      for query in ["", "?state=a", "?state=a&state=a&code=b", "?code=b"] {
        let answer = try await site.server.execute(
          "GET", "/auth/callback" + query, fields: ["Cookie": third.cookie])
        #expect(answer.status == 400)
      }
    }
  }

  @Test func `it has to end within a quarter of an hour`() async throws {
    try await SingleSignOn.test { site async throws in
      let key = try #require(try await site.server.store.tickets.ticketKeys().first)
      for (age, status) in [(TimeInterval(890), 303), (910, 400), (-120, 400)] {
        let attempt = SignInAttempt(to: .console, at: Date() - age)
        let begun = try await site.begin()
        var request = begun.request
        let secrets = attempt.secrets(key)
        (request["state"], request["nonce"]) = (secrets.state, secrets.nonce)
        request["code_challenge"] = SingleSignOnTests.challenge(of: secrets.verifier)
        let old = SingleSignOn.Begun(
          cookie: "richpush-sign-in=" + attempt.text, request: request)
        let answer = try await site.finish(old, code: site.provider.authorize(request))
        #expect(answer.status == status, "\(age) \(answer.text)")
      }
    }
  }

  /// The challenge of RFC 7636 for a verifier.
  private static func challenge(of verifier: String) -> String {
    let hex = Array(Digest(of: verifier).hex).compactMap(\.hexDigitValue)
    return Base64URL.encode(
      stride(from: 0, to: hex.count, by: 2).map { UInt8(hex[$0] * 16 + hex[$0 + 1]) })
  }

  @Test func `a redirection that names another provider is refused`() async throws {
    try await SingleSignOn.test { site async throws in
      site.provider.tell {
        $0.metadata["authorization_response_iss_parameter_supported"] = "true"
      }
      for (more, status) in [
        ("&iss=" + PercentEncoding.encode(site.provider.issuer) + "&session_state=1", 303),
        ("&iss=https%3A%2F%2Flogin.example", 502), ("", 502),
      ] {
        let begun = try await site.begin()
        let code = site.provider.authorize(begun.request)
        #expect(try await site.finish(begun, code: code, more: more).status == status)
      }
    }
  }

  @Test func `what the provider says when it signs nobody in is shown, and nothing of it runs`()
    async throws
  {
    try await SingleSignOn.test { site async throws in
      let begun = try await site.begin()
      let state = begun.request["state"] ?? ""
      let answer = try await site.server.execute(
        "GET", "/auth/callback?error=%3Cscript%3Ealert()%3C/script%3E&state=\(state)",
        fields: ["Cookie": begun.cookie])
      #expect(answer.status == 403 && answer.text.contains("&lt;script>"))
      #expect(!answer.text.contains("<script"))
      #expect(answer.fields["Content-Security-Policy"]?.contains("default-src 'none'") == true)
    }
  }

  @Test(arguments: [
    (#""Publisher""#, "already a user Publisher"), (#""admin""#, "already a user admin"),
    (#""a\u0000b""#, "gives no name"), (#""dör""#, "no name"), (#""""#, "no name"), ("", "no name"),
    ("7", "no name"), (#"["a"]"#, "no name"),
    ("\"\(String(repeating: "a", count: 65))\"", "no name"),
  ]) func `a name that is another's, or none, makes no user`(name: String, said: String)
    async throws
  {
    try await SingleSignOn.test { site async throws in
      let before = try await site.server.store.accounts.users().count
      site.provider.tell { behaviour in
        behaviour.claims["preferred_username"] = name
        behaviour.claims["sub"] = #""<b>s&1""#
      }
      let answer = try await site.signIn()
      #expect(answer.status == 403 && site.session(answer) == nil)
      #expect(answer.text.contains(said) && answer.text.contains("&lt;b>s&amp;1"))
      #expect(try await site.server.store.accounts.users().count == before)
    }
  }

  @Test func `a user who was there before signs in once an admin has made the link`() async throws {
    try await SingleSignOn.test(with: { $0.makesUsers = false }) { site async throws in
      let page = try await site.signIn()
      #expect(page.status == 403 && page.text.contains("needs this: s-1"))
      let identity = Identity(issuer: site.provider.issuer, subject: "s-1")
      #expect(try await site.server.store.identities.link("publisher", with: identity))
      let session = try #require(site.session(try await site.signIn()))
      let found = try await site.ask("GET", "/api/session", with: session)
      #expect(found.json["username"] as? String == "publisher")
      #expect(found.json["role"] as? String == "publisher")
    }
  }

  @Test func `groups give roles, the highest of all, at each sign-in`() async throws {
    try await SingleSignOn.test(with: { settings in
      try settings.useClaims(scopes: "profile groups", name: "nick", groups: "realm.roles")
      try settings.giveRoles(["editors=publisher", "cn=it,dc=example=admin"])
    }) { site async throws in
      for (groups, role) in [
        (#"["x","editors"]"#, "publisher"), (#"["editors","cn=it,dc=example"]"#, "admin"),
        (#""editors""#, "publisher"), ("[]", "device"), (#"["Editors"]"#, "device"),
      ] {
        site.provider.tell { behaviour in
          behaviour.claims["nick"] = #""dora""#
          behaviour.claims["realm"] = #"{"roles":\#(groups)}"#
        }
        let session = try #require(site.session(try await site.signIn()))
        let found = try await site.ask("GET", "/api/session", with: session)
        #expect(found.json["role"] as? String == role, "\(groups)")
      }
      // What is not in the token is asked for.
      site.provider.tell { behaviour in
        behaviour.claims["realm"] = ""
        behaviour.information["realm"] = #"{"roles":["editors"]}"#
      }
      let session = try #require(site.session(try await site.signIn()))
      let found = try await site.ask("GET", "/api/session", with: session)
      #expect(found.json["role"] as? String == "publisher")
      site.provider.tell { $0.information["sub"] = #""another""# }
      #expect(try await site.signIn().status == 502)
      // Nobody loses a role because the provider could not say more.
      site.provider.tell { $0.instead["/userinfo"] = .problem(503, "") }
      #expect(site.session(try await site.signIn()) == nil)
      #expect(try await site.server.store.accounts.user(named: "dora")?.role == .publisher)
    }
  }

  @Test func `where a group has the role device, only members of groups sign in`() async throws {
    try await SingleSignOn.test(with: { try $0.giveRoles(["staff=device", "it=admin"]) }) {
      site async throws in
      site.provider.tell { $0.claims["groups"] = #"["guests"]"# }
      let page = try await site.signIn(language: "de")
      #expect(page.status == 403 && page.text.contains("keiner der Gruppen"))
      #expect(try await site.server.store.accounts.user(named: "dora") == nil)
      site.provider.tell { $0.claims["groups"] = #"["staff"]"# }
      #expect(try await site.signIn().status == 303)
    }
  }

  @Test func `passwords can be turned off, but for one admin`() async throws {
    try await SingleSignOn.test(with: { $0.passwordUser = "admin" }) { site async throws in
      let server = site.server
      let device = try await server.store.accounts.registration(
        forHandle: "AA", user: server.id(of: "device"))
      let token = DeviceToken()
      #expect(
        try await server.store.accounts.addToken(
          token.hash, to: device, user: server.id(of: "device")))
      for (user, status) in [("admin", 200), ("publisher", 401), ("device", 401)] {
        let answer = try await server.execute("GET", "/api/notifications", as: user)
        #expect(answer.status == status)
        let page = try await server.execute(
          "POST", "/api/session", fields: ["Sec-Fetch-Site": "same-origin"],
          body: #"{"username":"\#(user)","password":"\#(TestServer.password)"}"#)
        #expect(page.status == (status == 200 ? 204 : 401))
        if status == 401 { #expect(page.detail?.contains("sign in with SSO") == true) }
      }
      #expect(
        try await server.execute("GET", "/api/notifications", token: token.text).status == 200)
      #expect(try await server.execute("GET", "/api/sign-in").json["passwords"] as? Bool == false)
      #expect(try await server.execute("GET", "/api/app").json["passwords"] as? Bool == false)
      #expect(try await site.signIn().status == 303)
    }
  }

  @Test func `the one with the password stays an admin, whatever admins and groups say`()
    async throws
  {
    try await SingleSignOn.test(with: { settings in
      settings.passwordUser = "admin"
      try settings.giveRoles(["editors=publisher"])
    }) { site async throws in
      let server = site.server
      for (method, target, body) in [
        ("PUT", "/api/users/admin", #"{"role":"publisher"}"#), ("DELETE", "/api/users/admin", ""),
        ("DELETE", "/api/users/admin?erase", ""),
      ] {
        try await server.addUser("boss-\(UUID().uuidString)", .admin)
        let answer = try await server.execute(method, target, as: "admin", body: body)
        #expect(answer.status == 409 && answer.detail?.contains("--password-sign-in") == true)
      }
      #expect(
        try await server.status("PUT", "/api/users/admin", as: "admin", body: #"{"role":"admin"}"#)
          == 204)
      let identity = Identity(issuer: site.provider.issuer, subject: "s-1")
      #expect(try await server.store.identities.link("admin", with: identity))
      let session = try #require(site.session(try await site.signIn()))
      let found = try await site.ask("GET", "/api/session", with: session)
      #expect(found.json["role"] as? String == "admin")
      // Nobody at the provider takes the name while it is free.
      #expect(try await server.store.accounts.removeUser("admin"))
      site.provider.tell { behaviour in
        (behaviour.claims["sub"], behaviour.claims["preferred_username"]) = (
          #""s-2""#, #""admin""#
        )
      }
      #expect(try await site.signIn().status == 403)
      #expect(try await server.store.accounts.user(named: "admin") == nil)
    }
  }

  @Test func `a server does not start if the only user with a password is no admin with one`()
    async throws
  {
    for (name, words) in [
      ("rescue", "add rescue --role admin"), ("publisher", "has the role publisher"),
    ] {
      let error = await #expect(throws: OperatorError.self) {
        try await SingleSignOn.test(with: { $0.passwordUser = name }) { _ in }
      }
      #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
    }
    try await SingleSignOn.test { site async throws in
      #expect(try await site.signIn().status == 303)
      let admin = try await site.server.status(
        "PUT", "/api/users/dora", as: "admin", body: #"{"role":"admin"}"#)
      #expect(admin == 204)
      let users = try await site.server.store.accounts.users()
      var settings = SignInSettings()
      settings.passwordUser = "dora"
      let error = #expect(throws: OperatorError.self) {
        try settings.checkPasswordUser(among: users)
      }
      #expect(error?.reason.contains("user password dora") == true)
      settings.passwordUser = "admin"
      try settings.checkPasswordUser(among: users)
      settings.passwordUser = "rescue"
      try settings.checkPasswordUser(among: [])
    }
  }

  @Test func `the provider ends sessions`() async throws {
    try await SingleSignOn.test { site async throws in
      func session() async throws -> String {
        try #require(site.session(try await site.signIn()))
      }
      func logout() async throws -> Int {
        try await site.server.execute(
          "POST", "/auth/back-channel-logout", body: "logout_token=" + site.provider.token()
        ).status
      }
      let event = #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#
      let first = try await session()
      // An ID token is no logout token, nor is one with a nonce, or an old one.
      #expect(try await logout() == 400)
      site.provider.tell { behaviour in
        (behaviour.claims["events"], behaviour.claims["jti"]) = (event, #""j""#)
        behaviour.claims["nonce"] = #""n""#
      }
      #expect(try await logout() == 400)
      site.provider.tell { behaviour in
        behaviour.claims["nonce"] = ""
        behaviour.claims["iat"] = "\(Int(Date().timeIntervalSince1970) - 200)"
      }
      #expect(try await logout() == 400)
      #expect(try await site.ask("GET", "/api/session", with: first).status == 200)
      site.provider.tell { $0.claims["iat"] = nil }
      #expect(try await logout() == 200)
      #expect(try await site.ask("GET", "/api/session", with: first).status == 401)
      #expect(try await site.server.execute("POST", "/auth/back-channel-logout").status == 400)
    }
  }

  @Test func `nobody fills the log by wrong tokens, or while the provider is away`() async throws {
    let clock = ManualClock()
    try await SingleSignOn.test(clock: clock) { site async throws in
      for _ in 0..<30 {
        let answer = try await site.server.execute(
          "POST", "/auth/back-channel-logout", body: "logout_token=wrong")
        #expect(answer.status == 400)
      }
      site.provider.tell { $0.instead["/.well-known/openid-configuration"] = .problem(503, "") }
      // Until then, what it has said before counts.
      clock.advance(by: .seconds(86_401))
      for path in ["/auth/sign-in", "/auth/sign-out"] {
        for _ in 0..<30 { _ = try await site.server.execute("GET", path) }
      }
      let lines = site.server.log.all
      #expect(lines.count { $0.contains("back-channel logout") } == 1)
      #expect(lines.count { $0.contains("nobody is signed out at the provider") } == 1)
      #expect((2...4).contains(lines.count { $0.contains("answers 503") }), "\(lines)")
    }
  }

  @Test func `nothing of it is there without a provider, or over plain http`() async throws {
    try await TestServer.test { server in
      #expect(try await server.execute("GET", "/auth/sign-in").status == 404)
      let state = try await server.execute("GET", "/api/sign-in")
      #expect(state.json["singleSignOn"] is NSNull && state.json["passwords"] as? Bool == true)
    }
    try await SingleSignOn.test { site async throws in
      let answer = try await site.server.execute("GET", "/auth/sign-in", peer: "192.0.2.1")
      #expect(answer.status == 403 && answer.fields["Set-Cookie"] == nil)
      let secure = try await site.server.execute(
        "GET", "/auth/sign-in", peer: "192.0.2.1", isSecure: true)
      #expect(secure.fields["Set-Cookie"]?.hasPrefix("__Host-richpush-sign-in=") == true)
      #expect(secure.fields["Set-Cookie"]?.contains("; Secure;") == true)
    }
  }

  @Test func `no log has a code of the provider, however it is written`() throws {
    for path in ["/auth/callback", "/Auth/callback", "/%61uth/callback"] {
      let request = try Request("GET", path + "?code=secret&state=other")
      #expect(!request.loggedTarget.contains("secret") && !request.loggedTarget.contains("other"))
    }
  }

  @Test func `options that do not go together are refused`() throws {
    func check(
      _ change: (inout OriginConfiguration) throws -> Void
    ) -> String? {
      do {
        var configuration = try OriginConfiguration()
        try configuration.usePublicURL("https://push.example")
        try configuration.signIn.useProvider(
          "https://login.example", clientID: "richpush", environment: [:])
        try change(&configuration)
        try configuration.check()
        return nil
      } catch { return "\(error)" }
    }
    #expect(check { _ in } == nil)
    #expect(check { try $0.usePublicURL("http://push.example") }?.contains("--public-url") == true)
    #expect(check { $0.isDemo = true }?.contains("--demo") == true)
    #expect(check { $0.signIn.passwordUser = "a b" }?.contains("--password-sign-in") == true)
    #expect(check { $0.signIn.passwordUser = "nobody" }?.contains("--password-sign-in") == true)
    #expect(check { $0.signIn.name = "" }?.contains("--oidc-name") == true)
    #expect(check { try $0.signIn.giveRoles(["it"]) }?.contains("--oidc-roles") == true)
    #expect(check { try $0.signIn.giveRoles(["it=root"]) }?.contains("--oidc-roles") == true)
    for issuer in ["http://login.example", "login.example", "https://a@b.example", "https://"] {
      let problem = check {
        try $0.signIn.useProvider(issuer, clientID: "richpush", environment: [:])
      }
      #expect(problem?.contains("--oidc-issuer") == true, "\(issuer)")
    }
    let alone = #expect(throws: (any Error).self) {
      var configuration = try OriginConfiguration()
      configuration.signIn.passwordUser = "admin"
      try configuration.check()
    }
    #expect("\(alone, default: "")".contains("--password-sign-in needs --oidc-issuer"))
  }
}
