import Delivery
import Foundation
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import HTTP
@testable import Origin

/// Every route by everybody who may ask, with all their answers; a new route needs a line here.
@Suite(.timeLimit(.minutes(5))) struct AccessTests {
  /// An `Authorization` field with its end of line.
  private static func credentials(
    _ name: String, password: String = TestServer.password
  ) -> String {
    "Authorization: \(TestServer.authorization(name, password: password))\r\n"
  }

  /// The uploads that are in the data folder now.
  private func uploads(_ server: TestServer) -> [String] {
    let files = try? FileManager.default.subpathsOfDirectory(atPath: server.configuration.data)
    return (files ?? ["upload-?"]).filter { $0.contains("upload-") }
  }

  /// Who may use a route, and what they get who send nothing that makes sense.
  private struct Expectation {
    let access: Access
    let status: Int
    let admission: Admission

    init(_ access: Access, _ status: Int, by admission: Admission = .all) {
      (self.access, self.status, self.admission) = (access, status, admission)
    }
  }

  private static let expectations: [String: Expectation] = [
    "GET /healthz": Expectation(.anybody, 200),
    "GET /readyz": Expectation(.anybody, 200),
    "GET /metrics": Expectation(.anybody, 200),
    "GET /media/{}/{}": Expectation(.anybody, 403),  // what is asked for is not signed
    "GET /api/openapi.json": Expectation(.user, 200, by: [.all, .accessToken]),
    "GET /api/notifications": Expectation(.user, 200, by: [.all, .accessToken]),
    // The tutorial's picture is not there.
    "POST /api/notifications": Expectation(.user, 422, by: [.all, .accessToken]),
    "GET /api/notifications/{}": Expectation(.user, 404, by: .token),
    "PATCH /api/notifications/{}": Expectation(.user, 404, by: [.all, .accessToken]),
    "DELETE /api/notifications/{}": Expectation(.user, 404, by: [.all, .accessToken]),
    "GET /api/notifications/{}/details": Expectation(
      .user, 404, by: [.all, .receiptsToken]),
    "GET /api/notifications/{}/media": Expectation(.user, 404),
    "GET /api/notifications/{}/receipts": Expectation(
      .user, 404, by: [.all, .receiptsToken]),
    "GET /api/notifications/{}/deliveries": Expectation(
      .user, 404, by: [.all, .receiptsToken]),
    "GET /api/notifications/{}/statistics": Expectation(
      .user, 404, by: [.all, .receiptsToken]),
    "GET /api/statistics": Expectation(.publisher, 200),
    "GET /api/notifications/{}/interactions": Expectation(
      .user, 404, by: [.all, .receiptsToken]),
    "GET /api/notifications/{}/amendments": Expectation(
      .user, 404, by: [.all, .receiptsToken]),
    "POST /api/notifications/{}/interactions": Expectation(
      .user, 404, by: [.session, .token, .push]),
    "PUT /api/notifications/{}/read": Expectation(.user, 404),
    "GET /api/app": Expectation(.anybody, 200),
    "POST /api/notifications/read": Expectation(.user, 400),
    "PUT /api/notifications/{}/hidden": Expectation(.user, 404),
    "DELETE /api/notifications/{}/hidden": Expectation(.user, 404),
    "GET /api/push/stream": Expectation(.user, 200),
    "GET /api/push/vapid": Expectation(.user, 200),
    "POST /api/register": Expectation(.user, 400, by: .token),
    "PUT /api/register/{}": Expectation(.user, 400, by: .ownToken),
    "PATCH /api/register/{}": Expectation(.user, 400, by: [.session, .ownToken]),
    "DELETE /api/register/{}": Expectation(.user, 200, by: [.session, .ownToken]),
    "POST /api/register/{}/token": Expectation(.user, 404, by: .password),
    "DELETE /api/register/{}/token": Expectation(.user, 404, by: [.session, .ownToken]),
    "GET /api/registrations": Expectation(.user, 200),
    "GET /api/events/stream": Expectation(.publisher, 200),
    "GET /api/audience": Expectation(.publisher, 400, by: [.all, .accessToken]),
    "GET /api/audience/names": Expectation(.publisher, 200),
    "GET /api/assets/{}/{}/media": Expectation(.publisher, 404, by: [.all, .assetsToken]),
    "GET /api/assets": Expectation(.publisher, 200, by: [.all, .assetsToken]),
    "POST /api/assets": Expectation(.publisher, 400, by: [.all, .assetsToken]),
    "GET /api/assets/{}": Expectation(.publisher, 404, by: [.all, .assetsToken]),
    "GET /api/assets/{}/{}": Expectation(.publisher, 404, by: [.all, .assetsToken]),
    "PUT /api/assets/{}/{}": Expectation(.publisher, 404, by: [.all, .assetsToken]),
    "PATCH /api/assets/{}/{}": Expectation(.publisher, 400, by: [.all, .assetsToken]),
    "GET /api/assets/{}/{}/versions": Expectation(.publisher, 404, by: [.all, .assetsToken]),
    "GET /api/assets/{}/{}/versions/{}/media": Expectation(
      .publisher, 404, by: [.all, .assetsToken]),
    "GET /api/assets/{}/{}/uses": Expectation(.publisher, 404, by: .session),
    "POST /api/assets/{}/{}/rename": Expectation(.publisher, 400, by: [.all, .assetsToken]),
    "POST /api/assets/{}/{}/restore": Expectation(.publisher, 404, by: [.all, .assetsToken]),
    "GET /api/asset-labels": Expectation(.publisher, 200, by: [.all, .assetsToken]),
    "GET /api/removed-assets": Expectation(.publisher, 200, by: [.all, .assetsToken]),
    "DELETE /api/assets/{}/{}": Expectation(.publisher, 404, by: [.all, .assetsToken]),
    "GET /api/plugins": Expectation(.admin, 200),
    "GET /api/types": Expectation(.publisher, 200, by: [.all, .accessToken]),
    "GET /api/outbox": Expectation(.admin, 200),
    "POST /api/outbox/{}/replay": Expectation(.admin, 404),
    "POST /api/outbox/replay": Expectation(.admin, 200),
    "DELETE /api/outbox/{}": Expectation(.admin, 404),
    "GET /api/lanes": Expectation(.admin, 200),
    "POST /api/lanes/resume": Expectation(.admin, 200),
    "POST /api/lanes/restore": Expectation(.admin, 400),
    "GET /api/users": Expectation(.admin, 200),
    "PUT /api/users/{}": Expectation(.admin, 400),
    "DELETE /api/users/{}": Expectation(.admin, 404),
    "DELETE /api/users/{}/tokens": Expectation(.admin, 404),
    "GET /api/users/{}/devices": Expectation(.admin, 404),
    "GET /api/users/{}/attributes": Expectation(.publisher, 404),
    "PUT /api/users/{}/attributes": Expectation(.publisher, 400),
    "POST /api/attributes": Expectation(.publisher, 400),
    "POST /api/attributes/import": Expectation(.publisher, 422),
    "GET /api/failed-logins": Expectation(.admin, 200),
    "GET /api/status": Expectation(.admin, 200, by: [.all, .statusToken]),
    "GET /api/audit": Expectation(.admin, 200, by: [.all, .auditToken]),
    "GET /api/storage": Expectation(.admin, 200),
    "POST /api/tokens": Expectation(.publisher, 400, by: .session),
    "GET /api/tokens": Expectation(.publisher, 200, by: .session),
    "DELETE /api/tokens/{}": Expectation(.publisher, 404, by: .session),
    "GET /api/approvals": Expectation(.publisher, 200, by: .session),
    "POST /api/notifications/{}/approval": Expectation(.publisher, 404, by: .session),
    "GET /api/drafts": Expectation(.publisher, 200, by: .session),
    "POST /api/drafts": Expectation(.publisher, 400, by: .session),
    "GET /api/drafts/{}": Expectation(.publisher, 404, by: .session),
    "PUT /api/drafts/{}": Expectation(.publisher, 400, by: .session),
    "DELETE /api/drafts/{}": Expectation(.publisher, 404, by: .session),
    "GET /api/segments": Expectation(.publisher, 200, by: .session),
    "GET /api/segments/{}": Expectation(.publisher, 404, by: .session),
    "PUT /api/segments/{}": Expectation(.publisher, 400, by: .session),
    "DELETE /api/segments/{}": Expectation(.publisher, 404, by: .session),
    "POST /api/webhooks": Expectation(.publisher, 400, by: .session),
    "GET /api/webhooks": Expectation(.publisher, 200, by: .session),
    "DELETE /api/webhooks/{}": Expectation(.publisher, 404, by: .session),
    "GET /api/webhooks/{}/deliveries": Expectation(.publisher, 404, by: .session),
    "POST /api/webhooks/{}/deliveries/{}/replay": Expectation(.publisher, 404, by: .session),
    "POST /api/pairings": Expectation(.user, 201, by: .session),
    "GET /api/pairings": Expectation(.user, 200, by: .session),
    "DELETE /api/pairings/{}": Expectation(.user, 404, by: .session),
    "POST /api/pair": Expectation(.anybody, 400),
    "POST /api/pair/forward": Expectation(.anybody, 400),
    "POST /api/sign-up": Expectation(.anybody, 403),  // nobody may
    "GET /api/sign-ups": Expectation(.admin, 200),
    "POST /api/sign-ups/{}": Expectation(.admin, 404),
    "DELETE /api/sign-ups/{}": Expectation(.admin, 404),
    "POST /api/session": Expectation(.anybody, 400),
    "GET /api/sign-in": Expectation(.anybody, 200),
    "PUT /api/password": Expectation(.user, 400, by: .session),
    "GET /api/session": Expectation(.user, 200, by: .session),
    "DELETE /api/session": Expectation(.user, 404, by: .session),  // a password is no session
    "DELETE /api/session/{}": Expectation(.user, 404, by: .session),
  ]

  /// Who asks: somebody with that role, or a stranger.
  private enum Asker: Hashable, CaseIterable {
    case nobody, wrongPassword, device, publisher, admin

    /// The field with the credentials; strangers have a name each, so that none is limited.
    func credentials(_ number: UInt32) -> String {
      switch self {
      case .nobody: ""
      case .wrongPassword: AccessTests.credentials("stranger-\(number)")
      case .device: AccessTests.credentials("device")
      case .publisher: AccessTests.credentials("publisher")
      case .admin: AccessTests.credentials("admin")
      }
    }

    /// The status that refuses; nil for those who may use the place.
    func refusal(by access: Access) -> Int? {
      switch (self, access) {
      case (_, .anybody): nil
      case (.nobody, _), (.wrongPassword, _): 401
      case (.device, .publisher), (.device, .admin), (.publisher, .admin): 403
      case (.device, .user), (.publisher, .user), (.publisher, .publisher), (.admin, _): nil
      }
    }
  }

  /// A route with one who asks there.
  private struct Case {
    let route: Route
    let expected: Expectation
    let asker: Asker
    /// Different for each case and each of its requests, for names and addresses.
    let number: UInt32

    var what: Comment { "\(route.method) \(route.pattern) by \(asker)" }
    var refusal: Int? { asker.refusal(by: expected.access) }

    /// What the head of a request must have, apart from the path.
    private var query: String {
      route.method == "POST" && route.pattern == "/api/assets" ? "?name=a" : ""
    }

    func head(_ method: String? = nil, _ fields: String = "", request: UInt32 = 0) -> String {
      "\(method ?? route.method) \(route.pattern.replacing("{}", with: "a"))\(query) HTTP/1.1\r\n"
        + "Host: 127.0.0.1\r\n\(asker.credentials(number + request))\(fields)\r\n"
    }
  }

  private static func forEach(
    _ server: TestServer, _ body: (Case) async throws -> Void
  ) async throws {
    var number: UInt32 = 256
    for route in server.origin.routes.table.routes {
      let name = "\(route.method) \(route.pattern)"
      let expected = try #require(expectations[name], "who may use \(name)?")
      for asker in Asker.allCases {
        try await body(Case(route: route, expected: expected, asker: asker, number: number))
        number += 8
      }
    }
  }

  @Test func `every route has an expectation, and is described with its role`() async throws {
    try await TestServer.test { server in
      let routes = server.origin.routes.table.routes
      #expect(
        routes.map { "\($0.method) \($0.pattern)" }.sorted() == Self.expectations.keys.sorted())
      let connection = server.connect()
      connection.send(
        "GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n"
          + "\(Self.credentials("device"))\r\n")
      let text = Data(await connection.answer().text.utf8)
      let document = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
      let paths = try #require(document["paths"] as? [String: [String: Any]])
      for route in routes {
        let path = try #require(
          paths.first { $0.key.replacing(/\{\w+\}/, with: "{}") == route.pattern }?.value)
        let operation = path[route.method.lowercased()] as? [String: Any]
        let security = (operation?["security"] ?? document["security"]) as? [[String: [String]]]
        var expected: [[String: [String]]] =
          switch route.access {
          case .anybody: []
          case .user where route.admission.contains(.push):
            [["basic": []], ["token": []], ["link": []]]
          case .user where route.admission.contains(.token): [["basic": []], ["token": []]]
          case .user where route.admission.contains(.ownToken):
            [["basic": []], ["token": ["own registration"]]]
          case .user: [["basic": []]]
          case .publisher: [["basic": ["publisher"]]]
          case .admin: [["basic": ["admin"]]]
          }
        for (token, scope) in [
          (Admission.accessToken, []), (.receiptsToken, ["receipts"]), (.assetsToken, ["assets"]),
          (.statusToken, ["status"]), (.auditToken, ["audit"]),
        ] where route.admission.contains(token) { expected.append(["accessToken": scope]) }
        #expect(security == expected, "\(route.method) \(route.pattern)")
      }
    }
  }

  @Test func `every caller gets what the role allows, with GET and with HEAD`() async throws {
    try await TestServer.test { server in
      try await Self.forEach(server) { one in
        let connection = server.connect(from: one.number)
        connection.send(one.head())
        let answer = await connection.answer()
        #expect(answer.status == one.refusal ?? one.expected.status, one.what)
        #expect((answer.fields["www-authenticate"] != nil) == (answer.status == 401), one.what)
        guard one.route.method == "GET" else { return }
        let other = server.connect(from: one.number + 1)
        other.send(one.head("HEAD", request: 1))
        #expect(await other.answer(hasBody: false).status == answer.status, one.what)
      }
    }
  }

  /// How a user shows who that is.
  private enum Shown: CaseIterable {
    case session, ownToken, otherToken, accessToken, receiptsToken, assetsToken, statusToken,
      auditToken

    /// The fields of a request with a new session or token of a user, whose device `own` the path names.
    func fields(of user: String, at server: TestServer) async throws -> Fields {
      let id = try await server.id(of: user)
      if self == .session {
        let cookie = SessionToken()
        _ = try await server.store.sessions.addSession(cookie.hash, user: id, userAgent: "")
        return ["Cookie": "richpush=\(cookie.text)", "Sec-Fetch-Site": "same-origin"]
      }
      if let scope {
        let token = AccessToken()
        for earlier in try await server.store.accessTokens.accessTokens(of: id) {
          _ = try await server.store.accessTokens.removeAccessToken(earlier.id, of: id)
        }
        _ = try await server.store.accessTokens.addAccessToken(
          token.hash, "\(self)", scope, of: id)
        return ["Authorization": "Bearer \(token.text)"]
      }
      let (token, device) = (DeviceToken(), self == .ownToken ? "own" : "other")
      _ = try await server.store.accounts.putRegistration(
        device + user, user: id, platform: "apns", handle: user + device)
      _ = try await server.store.accounts.addToken(token.hash, to: device + user, user: id)
      return ["Authorization": "Bearer \(token.text)"]
    }

    /// What an access token allows.
    var scope: AccessTokenScope? {
      var scope = AccessTokenScope()
      switch self {
      case .session, .ownToken, .otherToken: return nil
      case .accessToken: break
      case .receiptsToken: scope.readsReceipts = true
      case .assetsToken: scope.uploadsAssets = true
      case .statusToken: scope.readsStatus = true
      case .auditToken: scope.readsAudit = true
      }
      return scope
    }

    func isAdmitted(by admission: Admission) -> Bool {
      switch self {
      case .accessToken: admission.contains(.accessToken)
      case .receiptsToken: !admission.isDisjoint(with: [.accessToken, .receiptsToken])
      case .assetsToken: !admission.isDisjoint(with: [.accessToken, .assetsToken])
      case .statusToken: admission.contains(.statusToken)
      case .auditToken: admission.contains(.auditToken)
      case .session: admission.contains(.session)
      case .ownToken: admission.contains(.ownToken)
      case .otherToken: admission.contains(.token)
      }
    }

    func hasRole(_ role: Role, for access: Access) -> Bool {
      if let scope {
        return scope.isForReading ? role == .admin : role != .device && access != .admin
      }
      return switch access {
      case .anybody, .user: true
      case .publisher: self == .session && role != .device
      case .admin: self == .session && role == .admin
      }
    }
  }

  @Test func `sessions and tokens count only where the table says so`() async throws {
    try await TestServer.test { server in
      for role in Role.allCases {
        for route in server.origin.routes.table.routes where route.access != .anybody {
          let (user, name) = (role.rawValue, "\(route.method) \(route.pattern)")
          let admission = try #require(Self.expectations[name]).admission
          let path = route.pattern.replacing("{}", with: "own" + user)
          for shown in Shown.allCases {
            // An access token does not read the inbox.
            let sent = name == "GET /api/notifications" && shown.scope != nil ? "?sent" : ""
            let what: Comment = "\(name) by \(shown) of \(user)"
            let fields = try await shown.fields(of: user, at: server)
            let answer = try await server.execute(route.method, path + sent, fields: fields)
            answer.stream?.close()
            let isAllowed =
              shown.isAdmitted(by: admission) && shown.hasRole(role, for: route.access)
            #expect([401, 403].contains(answer.status) == !isAllowed, what)
          }
        }
      }
    }
  }

  @Test func `a caller without the role is rejected before the body is read`() async throws {
    let framings = [
      "Content-Length: 100000\r\nExpect: 100-continue\r\n",
      "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n",
      "Content-Length: 100000\r\n", "Transfer-Encoding: chunked\r\n",
    ]
    try await TestServer.test { server in
      try await Self.forEach(server) { one in
        guard let refusal = one.refusal else { return }
        for (index, fields) in framings.enumerated() {
          let connection = server.connect(from: one.number + UInt32(index))
          connection.send(one.head(nil, fields, request: UInt32(index)))
          if !fields.contains("Expect") {
            connection.send("4e20\r\n" + String(repeating: "x", count: 20_000))
          }
          #expect(await connection.answer().status == refusal, one.what)
          #expect(await connection.isClosed(), one.what)
          #expect(uploads(server).isEmpty, one.what)
        }
      }
    }
  }

  @Test func `an authorized caller gets 100 Continue`() async throws {
    try await TestServer.test(prepare: { configuration, _ in
      (configuration.signUp, configuration.subjects) = (.open, [.init(tag: "news", name: "News")])
    }) { server in
      try await Self.forEach(server) { one in
        if case .none = one.route.body { return }
        guard one.refusal == nil else { return }
        let connection = server.connect()
        connection.send(one.head(nil, "Content-Length: 2\r\nExpect: 100-continue\r\n"))
        #expect(await connection.answer().status == 100, one.what)
        connection.send("{}")
        let status = await connection.answer().status
        // A body without members is complete for some.
        let isExpected = (400..<500).contains(status) || status == one.expected.status
        #expect(isExpected && status != 401 && status != 403, one.what)
      }
    }
  }

  @Test func `a name that is guessed too often is limited before the body, too`() async throws {
    try await TestServer.test { server in
      for attempt in 0..<12 as Range<UInt32> {
        let connection = server.connect(from: 2)
        connection.send(
          "PUT /api/assets/img/a.png HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n"
            + Self.credentials("publisher", password: "guess\(attempt)") + "\r\n")
        #expect(await connection.answer().status == (attempt < 10 ? 401 : 429))
        #expect(await connection.isClosed())
        #expect(uploads(server).isEmpty)
      }
    }
  }

  @Test func `a device may notify only itself, and gets 403 before the body`() async throws {
    try await TestServer.test { server in
      func ask(
        _ sender: Role, to user: Role, _ fields: String, _ body: String
      ) async -> Int {
        let connection = server.connect()
        connection.send(
          "POST /api/notifications?pns=apns&to_tag=\(user.rawValue) HTTP/1.1\r\nHost: x\r\n"
            + "\(Self.credentials(sender.rawValue))\(fields)\r\n\(body)")
        return await connection.answer().status
      }
      let (length, expecting) = ("Content-Length: 4\r\n", "Expect: 100-continue\r\n")
      // At first the password must be looked at, later the caller is known.
      for _ in 0..<2 {
        #expect(await ask(.device, to: .admin, length + expecting, "") == 403)
        #expect(await ask(.device, to: .device, length + expecting, "") == 100)
        #expect(await ask(.publisher, to: .admin, length + expecting, "") == 100)
      }
      #expect(await ask(.device, to: .device, length, "\"Hi\"") == 200)
      #expect(await ask(.publisher, to: .admin, length, "\"Hi\"") == 200)
      let connection = server.connect()
      let body =
        #"{"message":"m","richType":"img","payload":"a.png","to":["username:admin"]}"#
      connection.send(
        "POST /api/notifications HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n"
          + "\(Self.credentials("device"))\r\n\(body)")
      #expect(await connection.answer().status == 403)
    }
  }
}
