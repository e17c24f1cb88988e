import Foundation
import HTTP
import Primitives
import Synchronization

@testable import Push

/// A provider of OpenID Connect on loopback, which answers as a test says, right or wrong.
final class ProviderStandIn: Responder {
  /// What it answers; values are JSON texts.
  struct Behaviour: Sendable {
    var metadata: [String: String] = [:]
    var keys = [key("one", ProviderKeys.rsa)]
    var head = ["alg": #""RS256""#, "kid": #""one""#]
    var claims: [String: String] = [:]
    /// What the user information has beside `sub`.
    var information: [String: String] = [:]
    var sign: @Sendable (String) throws -> [UInt8] = { text in
      try Signing.rs256(pem: ProviderKeys.rsa.pem, Array(text.utf8))
    }
    /// What is made of the token at last.
    var change: @Sendable (String) -> String = { $0 }
    /// What is answered at a path instead.
    var instead: [String: Response] = [:]
  }

  private struct State: Sendable {
    var behaviour = Behaviour()
    var codes: [String: [String: String]] = [:]
    var asked: [String] = []
    var forms: [[String: String]] = []
  }

  private let state = Mutex(State())
  /// Where it listens, once it does.
  private let address = Mutex("")

  var issuer: String { address.withLock { $0 } }
  /// How often a path was asked for.
  func count(_ path: String) -> Int { state.withLock { $0.asked.count { $0 == path } } }
  func forgetCounts() { state.withLock { $0.asked = [] } }
  /// The forms that were posted to the token endpoint.
  var forms: [[String: String]] { state.withLock { $0.forms } }

  /// Runs a test with a provider.
  static func test(_ body: (ProviderStandIn) async throws -> Void) async throws {
    let provider = ProviderStandIn()
    let server = try Server(ServerConfiguration(threads: 1), responder: provider, log: .silent)
    provider.address.withLock { $0 = "http://127.0.0.1:\(server.port)" }
    do { try await body(provider) } catch {
      await server.stop(grace: .seconds(1))
      throw error
    }
    await server.stop(grace: .seconds(1))
  }

  /// A key as it is published.
  static func key(_ name: String, _ pair: ProviderKeys.Pair, _ more: String = "") -> String {
    #"{"kid":"\#(name)",\#(pair.members)\#(more)}"#
  }

  /// Changes what it does.
  func tell(_ change: (inout Behaviour) -> Void) { state.withLock { change(&$0.behaviour) } }

  /// What somebody does who signs in there: the code for an authorization request.
  func authorize(_ request: [String: String]) -> String {
    let code = UUID().uuidString
    state.withLock { $0.codes[code] = request }
    return code
  }

  func plan(for request: Request) -> ResponsePlan {
    .collectingBody(limit: 1 << 20, deadline: .seconds(10)) { [self] body in
      let path = "/" + request.segments.joined(separator: "/")
      let behaviour = state.withLock { state in
        state.asked.append(path)
        return state.behaviour
      }
      if let other = behaviour.instead[path] { return other }
      switch path {
      case "/.well-known/openid-configuration":
        let standard = [
          "issuer": Self.quoted(issuer),
          "authorization_endpoint": Self.quoted(issuer + "/authorize"),
          "token_endpoint": Self.quoted(issuer + "/token"),
          "jwks_uri": Self.quoted(issuer + "/jwks"),
          "userinfo_endpoint": Self.quoted(issuer + "/userinfo"),
          "end_session_endpoint": Self.quoted(issuer + "/logout"),
        ]
        return Self.object(standard.merging(behaviour.metadata) { $1 })
      case "/jwks":
        return Self.object(["keys": "[" + behaviour.keys.joined(separator: ",") + "]"])
      case "/token":
        let form = Dictionary(
          (Query(encoded: body.span)?.items ?? []).map { ($0.name, $0.value) }
        ) { first, _ in first }
        return exchange(form, behaviour)
      case "/userinfo":
        let subject = behaviour.claims["sub"] ?? #""s-1""#
        return Self.object(["sub": subject].merging(behaviour.information) { $1 })
      default: return .problem(404, "")
      }
    }
  }

  private func exchange(_ form: [String: String], _ behaviour: Behaviour) -> Response {
    let request = state.withLock { state in
      state.forms.append(form)
      return state.codes.removeValue(forKey: form["code"] ?? "")
    }
    let challenge = Base64URL.encode(Self.bytes(Signing.sha256(form["code_verifier"] ?? "")))
    guard let request, challenge == request["code_challenge"] else {
      return .json(400, Array(#"{"error":"invalid_grant"}"#.utf8))
    }
    guard let token = token(nonce: request["nonce"], behaviour) else { return .problem(500, "") }
    return Self.object(["id_token": Self.quoted(token), "access_token": #""access""#])
  }

  /// A token as it signs them.
  func token(nonce: String? = nil) -> String {
    token(nonce: nonce, state.withLock { $0.behaviour }) ?? ""
  }

  private func token(nonce: String?, _ behaviour: Behaviour) -> String? {
    let now = Int(Date().timeIntervalSince1970)
    var claims = [
      "iss": Self.quoted(issuer), "aud": #""richpush""#, "sub": #""s-1""#, "iat": "\(now)",
      "exp": "\(now + 300)", "preferred_username": #""dora""#, "sid": #""sid-1""#,
    ]
    if let nonce { claims["nonce"] = Self.quoted(nonce) }
    claims.merge(behaviour.claims) { $1 }
    let unsigned = [behaviour.head, claims].map { Base64URL.encode(Array(Self.text($0).utf8)) }
      .joined(separator: ".")
    guard let signature = try? behaviour.sign(unsigned) else { return nil }
    return behaviour.change(unsigned + "." + Base64URL.encode(signature))
  }

  /// An object of members that are JSON texts; empty ones are left out.
  private static func text(_ members: [String: String]) -> String {
    "{"
      + members.filter { !$0.value.isEmpty }.map { "\"\($0.key)\":\($0.value)" }
      .joined(separator: ",") + "}"
  }

  private static func object(_ members: [String: String]) -> Response {
    .json(200, Array(text(members).utf8))
  }

  private static func quoted(_ text: String) -> String { JSONText.quoted(text) }

  private static func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] * 16 + digits[$0 + 1])
    }
  }
}
