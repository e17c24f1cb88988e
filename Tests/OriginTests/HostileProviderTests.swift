import Foundation
import HTTP
import JSON
import Primitives
import StandIns
import Store
import TestSupport
import Testing
import Waiting

@testable import OpenID
@testable import Origin
@testable import Push

/// Tokens and answers by which nobody must be signed in.
@Suite(.timeLimit(.minutes(3))) struct HostileProviderTests {
  /// What a provider does wrong, and what the operator's log says about it.
  struct Offence: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let logged: String
    let change: @Sendable (inout ProviderStandIn.Behaviour) -> Void

    init(
      _ name: String, _ logged: String,
      _ change: @escaping @Sendable (inout ProviderStandIn.Behaviour) -> Void
    ) { (testDescription, self.logged, self.change) = (name, logged, change) }
  }

  private static func seconds(_ offset: Int) -> String {
    "\(Int(Date().timeIntervalSince1970) + offset)"
  }

  /// Replaces a part of a token between its dots.
  private static func replacing(_ part: Int, with text: String, in token: String) -> String {
    var parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    parts[part] = text
    return parts.joined(separator: ".")
  }

  static let offences = [
    Offence("another audience", "for another client") { $0.claims["aud"] = #""other""# },
    Offence("no audience", "for another client") { $0.claims["aud"] = "" },
    Offence("several audiences, and none is the client", "for another client") {
      $0.claims["aud"] = #"["other","others"]"#
    },
    Offence("several audiences without a party", "for another client") {
      $0.claims["aud"] = #"["richpush","other"]"#
    },
    Offence("another party", "for another client") { $0.claims["azp"] = #""other""# },
    Offence("another issuer", "another provider's") {
      $0.claims["iss"] = #""https://login.example""#
    },
    Offence("another nonce", "another sign-in") { $0.claims["nonce"] = #""n""# },
    Offence("no nonce", "another sign-in") { $0.claims["nonce"] = "" },
    Offence("expired", "has expired") { $0.claims["exp"] = seconds(-61) },
    Offence("for ever", "has expired") { $0.claims["exp"] = "" },
    Offence("issued in the future", "not valid yet") { $0.claims["iat"] = seconds(120) },
    Offence("not yet valid", "not valid yet") { $0.claims["nbf"] = seconds(120) },
    Offence("nobody", "names no user") { $0.claims["sub"] = "" },
    Offence("a user with a line break", "names no user") { $0.claims["sub"] = #""a\nb""# },
    Offence("a user with a number", "names no user") { $0.claims["sub"] = "7" },
    Offence("unsigned", "not signed by RS256") {
      $0.head = ["alg": #""none""#]
      $0.sign = { _ in [] }
    },
    Offence("signed by the public key as a secret", "not signed by RS256") {
      $0.head["alg"] = #""HS256""#
      $0.sign = { Signing.hmac(key: Array(ProviderKeys.rsa.members.utf8), Array($0.utf8)) }
    },
    Offence("signed by another key of the same name", "none of the provider's keys") {
      $0.sign = { try Signing.rs256(pem: ProviderKeys.otherRSA.pem, Array($0.utf8)) }
    },
    Offence("signed by a key that it brings along", "none of the provider's keys") {
      $0.head["jwk"] = "{\(ProviderKeys.otherRSA.members)}"
      $0.head["kid"] = ""
      $0.sign = { try Signing.rs256(pem: ProviderKeys.otherRSA.pem, Array($0.utf8)) }
    },
    Offence("an algorithm that is not the key's", "none of the provider's keys") {
      $0.head["alg"] = #""ES256""#
    },
    Offence("a key that is for something else", "none of the provider's keys") {
      $0.keys = [ProviderStandIn.key("one", ProviderKeys.rsa, #","use":"enc""#)]
    },
    Offence("changed after it was signed", "none of the provider's keys") {
      $0.change = { token in
        replacing(1, with: Base64URL.encode(Array(#"{"sub":"admin"}"#.utf8)), in: token)
      }
    },
    Offence("without a signature", "none of the provider's keys") {
      $0.change = { replacing(2, with: "", in: $0) }
    },
    Offence("of two parts", "not signed as RFC 7515 says") {
      $0.change = { String($0.prefix(upTo: $0.lastIndex(of: ".") ?? $0.endIndex)) }
    },
    Offence("with a head that has to be understood", "not understood") {
      $0.head["crit"] = #"["b64"]"#
    },
    Offence("huge", "more than 65536 bytes") {
      $0.claims["groups"] = "[" + String(repeating: #""group","#, count: 12_000) + "1]"
    },
    Offence("no token", "exchanges no code") {
      $0.instead["/token"] = .json(200, Array(#"{"access_token":"a"}"#.utf8))
    },
    Offence("a refusal", "answers 401: invalid_client") {
      $0.instead["/token"] = .json(401, Array(#"{"error":"invalid_client"}"#.utf8))
    },
    Offence("a redirection with the code", "answers 307") {
      $0.instead["/token"] = .empty(307, fields: ["Location": "http://127.0.0.1:1/"])
    },
    Offence("keys that are none", "no list of keys") {
      $0.instead["/jwks"] = .json(200, Array(#"{"keys":7}"#.utf8))
    },
  ]

  @Test(arguments: offences) func `it signs nobody in`(offence: Offence) async throws {
    try await SingleSignOn.test { site async throws in
      site.provider.tell(offence.change)
      let answer = try await site.signIn()
      #expect(answer.status == 502, "\(answer.text)")
      #expect(site.session(answer) == nil && answer.fields["Location"] == nil)
      #expect(answer.text.contains("whose log says why"))
      #expect(try await site.server.store.accounts.user(named: "dora") == nil)
      #expect(site.server.log.contain(offence.logged), "\(site.server.log.all)")
    }
  }

  /// What a provider answers when it is asked what it is.
  static let descriptions: [(name: String, answer: Response, logged: String, status: Int)] = [
    ("not JSON", .text(200, "<html>"), "something else than JSON", 502),
    ("not found", .problem(404, ""), "answers 404", 502),
    ("ill", .problem(503, ""), "answers 503", 503),
    (
      "elsewhere", .empty(302, fields: ["Location": "https://login.example/"]), "answers 302", 502
    ),
    (
      "endless", .bytes(200, [UInt8](repeating: 0x20, count: 300_000), type: "application/json"),
      "more than 262144 bytes", 502
    ),
    ("empty", .json(200, Array("{}".utf8)), "calls itself", 502),
    (
      "another provider", .json(200, Array(#"{"issuer":"https://login.example"}"#.utf8)),
      "calls itself https://login.example", 502
    ),
  ]

  @Test(arguments: descriptions.indices)
  func `a provider that describes itself wrongly is not used`(index: Int) async throws {
    let (_, answer, logged, status) = Self.descriptions[index]
    try await SingleSignOn.test(clock: ManualClock()) { site async throws in
      try await site.afterFirstCheck()
      site.provider.tell { $0.instead["/.well-known/openid-configuration"] = answer }
      let page = try await site.server.execute("GET", "/auth/sign-in?to=console")
      #expect(page.status == status)
      #expect(site.server.log.contain(logged), "\(site.server.log.all)")
      // Nobody waits for it again within some seconds.
      _ = try await site.server.execute("GET", "/auth/sign-in?to=console")
      #expect(site.provider.count("/.well-known/openid-configuration") == 1)
    }
  }

  @Test func `its endpoints must be protected as it is`() async throws {
    try await SingleSignOn.test { site async throws in
      site.provider.tell { $0.metadata["token_endpoint"] = #""http://login.example/token""# }
      #expect(try await site.server.execute("GET", "/auth/sign-in").status == 502)
      #expect(site.server.log.contain("token_endpoint must be a URL of https"))
    }
  }

  @Test func `one that is away or silent keeps nobody waiting`() async throws {
    for isSilent in [false, true] {
      let socket =
        try isSilent ? LoopbackSocket.listening(backlog: 9) : LoopbackSocket.bound()
      defer { close(socket.descriptor) }
      try await TestServer.test(
        prepare: { configuration, _ in
          try configuration.usePublicURL("https://push.example")
          try configuration.signIn.useProvider(
            "http://127.0.0.1:\(socket.port)", clientID: "richpush", environment: [:])
          configuration.signIn.provider?.timeout = .milliseconds(200)
        }
      ) { server in
        let page = try await server.execute(
          "GET", "/auth/sign-in?to=app", fields: ["Accept-Language": "de-CH"])
        #expect(page.status == 503 && page.text.contains("antwortet nicht"))
        #expect(page.text.contains("../app/"))
        // The server itself is as before.
        #expect(try await server.execute("GET", "/api/session", as: "admin").status == 200)
      }
    }
  }

  @Test func `a new key is found when it signs, and asked for now and then only`() async throws {
    let clock = ManualClock()
    try await SingleSignOn.test(clock: clock) { site async throws in
      try await site.afterFirstCheck()
      #expect(try await site.signIn().status == 303)
      #expect(site.provider.count("/jwks") == 1)
      site.provider.tell { behaviour in
        behaviour.keys = [
          ProviderStandIn.key("one", ProviderKeys.rsa),
          ProviderStandIn.key("two", ProviderKeys.p256),
        ]
        behaviour.head = ["alg": #""ES256""#, "kid": #""two""#]
        behaviour.sign = { try Signing.es256(pem: ProviderKeys.p256.pem, Array($0.utf8)) }
      }
      clock.advance(by: .seconds(11))
      #expect(try await site.signIn().status == 303)
      #expect(site.provider.count("/jwks") == 2)
      // Unknown names of keys are no means to have the provider asked.
      site.provider.tell { $0.head["kid"] = #""three""# }
      for _ in 0..<5 { #expect(try await site.signIn().status == 502) }
      #expect(site.provider.count("/jwks") == 2)
      clock.advance(by: .seconds(11))
      for _ in 0..<5 { #expect(try await site.signIn().status == 502) }
      #expect(site.provider.count("/jwks") == 3)
      // While it is away, what it has said before counts.
      site.provider.tell { behaviour in
        behaviour.head["kid"] = #""two""#
        for path in ["/jwks", "/.well-known/openid-configuration"] {
          behaviour.instead[path] = .problem(503, "")
        }
      }
      clock.advance(by: .seconds(3601))
      #expect(try await site.signIn().status == 303)
    }
  }

  @Test func `signatures are those that OpenSSL makes`() throws {
    func key(_ json: String) throws -> ProviderKey? {
      let tree = try #require(JSONTree(json.utf8))
      return ProviderKey(tree)
    }
    let rsa = ProviderKeys.rsa.members
    let known = try #require(try key("{\(rsa)}"))
    let pssOnly = try #require(try key("{\(rsa),\"alg\":\"PS256\"}"))
    let text = Array("hello".utf8)
    let rs256 = try #require(Base64URL.decode(ProviderKeys.signatures.rs256))
    let ps256 = try #require(Base64URL.decode(ProviderKeys.signatures.ps256))
    #expect(known.verify(rs256, of: text, by: .rs256))
    #expect(known.verify(ps256, of: text, by: .ps256))
    #expect(!known.verify(ps256, of: text, by: .rs256))
    #expect(!known.verify(rs256, of: text, by: .ps256))
    #expect(!pssOnly.verify(rs256, of: text, by: .rs256))
    #expect(!known.verify(rs256, of: Array("hellO".utf8), by: .rs256))
    // A short key can be factored.
    let modulus = Base64URL.encode([UInt8](repeating: 255, count: 128))
    let weak = try #require(try key("{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"\(modulus)\"}"))
    #expect(!weak.verify([UInt8](repeating: 1, count: 128), of: text, by: .rs256))
    // A point that is not on the curve.
    let number = Base64URL.encode([UInt8](repeating: 1, count: 32))
    let point = try key(
      "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"\(number)\",\"y\":\"\(number)\"}")
    #expect(point == nil)
  }
}
