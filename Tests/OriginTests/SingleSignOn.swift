import Foundation
import HTTP
import Primitives
import TestSupport
import Testing
import Waiting

@testable import Origin

/// A server at which people sign in by a provider, and the browser of one of them.
struct SingleSignOn: Sendable {
  let server: TestServer
  let provider: ProviderStandIn

  /// Runs a test with a provider, and a server that uses it.
  static func test(
    clock: any SteadyClock = ContinuousClock(), _ body: (SingleSignOn) async throws -> Void
  ) async throws {
    try await test(clock: clock, with: { _ in }, body)
  }

  /// Runs a test with a provider, and a server that uses it by these settings.
  static func test(
    clock: any SteadyClock = ContinuousClock(), with prepare: (inout SignInSettings) throws -> Void,
    _ body: (SingleSignOn) async throws -> Void
  ) async throws {
    try await ProviderStandIn.test { provider in
      let issuer = provider.issuer
      try await TestServer.test(
        clock: clock,
        prepare: { configuration, _ in
          try configuration.usePublicURL("https://push.example")
          try configuration.signIn.useProvider(issuer, clientID: "richpush", environment: [:])
          try prepare(&configuration.signIn)
          try configuration.check()
        }
      ) { server in try await body(SingleSignOn(server: server, provider: provider)) }
    }
  }

  /// Waits until the server has asked the provider for the first time by itself, and counts nothing of that.
  func afterFirstCheck() async throws {
    try await eventually("it asks") { provider.count("/jwks") == 1 }
    provider.forgetCounts()
  }

  /// What a browser has after `/auth/sign-in`.
  struct Begun: Sendable {
    /// The cookie, as the browser sends it.
    let cookie: String
    /// What the provider is sent.
    let request: [String: String]
  }

  /// Goes to the provider.
  func begin(to target: String = "console") async throws -> Begun {
    let answer = try await server.execute("GET", "/auth/sign-in?to=\(target)")
    try #require(answer.status == 303, "\(answer.text)")
    let address = try #require(answer.fields["Location"])
    try #require(address.hasPrefix(provider.issuer + "/authorize?"))
    let items = try #require(URLComponents(string: address)?.queryItems)
    let cookie = try #require(answer.fields["Set-Cookie"])
    #expect(cookie.contains("HttpOnly; SameSite=Lax; Max-Age=900"))
    return Begun(
      cookie: String(cookie.prefix { $0 != ";" }),
      request: Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value ?? "") }))
  }

  /// Comes back from the provider.
  func finish(
    _ begun: Begun, code: String, cookie: String? = nil, more: String = "", language: String = "en"
  ) async throws -> TestResponse {
    let state = begun.request["state"] ?? ""
    return try await server.execute(
      "GET", "/auth/callback?code=\(code)&state=\(state)\(more)",
      fields: [
        "Cookie": cookie ?? begun.cookie, "Sec-Fetch-Site": "cross-site",
        "Accept-Language": language,
      ])
  }

  /// Signs in, from the beginning to the end.
  func signIn(to target: String = "console", language: String = "en") async throws -> TestResponse {
    let begun = try await begin(to: target)
    return try await finish(begun, code: provider.authorize(begun.request), language: language)
  }

  /// The cookie of the session that an answer begins; nil if it begins none.
  func session(_ answer: TestResponse) -> String? {
    answer.fields.values(of: "Set-Cookie").first { $0.hasPrefix("richpush=") && $0.count > 60 }
      .map { String($0.prefix { $0 != ";" }) }
  }

  /// A request of a page with a session.
  func ask(
    _ method: String, _ target: String, with session: String?, body: String = ""
  ) async throws -> TestResponse {
    try await server.execute(
      method, target, fields: ["Cookie": session ?? "", "Sec-Fetch-Site": "same-origin"],
      body: body)
  }
}
