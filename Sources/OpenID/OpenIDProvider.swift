import COpenSSL
import FoundationEssentials
import JSON
package import Primitives
import Synchronization

/// A provider of OpenID Connect, where people sign in.
///
/// What it says of itself, and its keys, are kept for an hour, and longer while it is away; keys are asked for again
/// when one signs that is not known.
package final class OpenIDProvider: Sendable {
  /// How it is asked.
  package let configuration: OpenIDConfiguration
  private let clock: any SteadyClock
  private let metadata: KeptAnswer<ProviderMetadata>
  private let keys: KeptAnswer<[ProviderKey]>
  private let turns: AdmissionQueue
  /// Of what it was last asked for in vain.
  private let failures = Mutex<[Step: OpenIDError]>([:])

  /// What a sign-in needs of the provider.
  private enum Step: CaseIterable { case metadata, keys, exchange }

  /// Requests at once.
  private static let concurrency = 4
  private static let threads = BlockingExecutor(threads: concurrency)
  /// A token that is longer is no part of an address.
  private static let longestHint = 3000

  /// A provider that is asked when it is needed.
  package init(_ configuration: OpenIDConfiguration, clock: any SteadyClock = ContinuousClock()) {
    (self.configuration, self.clock) = (configuration, clock)
    (metadata, keys) = (KeptAnswer(clock), KeptAnswer(clock))
    turns = AdmissionQueue(
      width: Self.concurrency, maximumWaiters: 64, timeout: .seconds(15), clock: clock)
  }

  /// Why nobody can sign in, by the provider's last answers; nil if they show nothing.
  package var problem: OpenIDError? {
    failures.withLock { failures in Step.allCases.compactMap { failures[$0] }.first }
  }

  /// Asks the provider anew, whatever is kept: returns if it describes itself as it must, and has keys.
  package func check() async throws(OpenIDError) {
    let metadata = try await askForMetadata()
    _ = try await askForKeys(metadata)
    // Only then: providers record codes that are not valid.
    if problem != nil {
      _ = try? await exchange(
        Secrets(state: "", nonce: "", verifier: "none"), "none", redirect: "", metadata)
    }
    if let problem { throw problem }
  }

  // MARK: - Signing in

  /// The secrets of one sign-in, which none of another can be told from.
  package struct Secrets: Sendable {
    package let state: String
    package let nonce: String
    package let verifier: String

    /// Texts of the characters that RFC 7636 allows in a verifier.
    package init(state: String, nonce: String, verifier: String) {
      (self.state, self.nonce, self.verifier) = (state, nonce, verifier)
    }
  }

  /// Where people sign in; they come back to `redirect` (RFC 6749, section 4.1.1; RFC 7636, section 4.3).
  package func address(
    for secrets: Secrets, redirect: String
  ) async throws(OpenIDError) -> String {
    let metadata = try await knownMetadata()
    var digest = [UInt8](repeating: 0, count: 32)
    copenssl_sha256(secrets.verifier, secrets.verifier.utf8.count, &digest)
    return FormEncoding.url(
      metadata.authorization,
      [
        ("response_type", "code"), ("client_id", configuration.clientID),
        ("redirect_uri", redirect), ("scope", configuration.scopes.joined(separator: " ")),
        ("state", secrets.state), ("nonce", secrets.nonce),
        ("code_challenge", Base64URL.encode(digest)), ("code_challenge_method", "S256"),
      ])
  }

  /// Who comes back with a code.
  ///
  /// `issuer` is what the redirection names (RFC 9207). With `needsGroups`, an answer without them is asked for more.
  package func identity(
    _ secrets: Secrets, code: String, issuer: String?, redirect: String, needsGroups: Bool
  ) async throws(OpenIDError) -> ProviderIdentity {
    let metadata = try await knownMetadata()
    guard issuer ?? (metadata.namesItself ? "" : configuration.issuer) == configuration.issuer
    else { throw OpenIDError(.token, "the redirection is another provider's") }
    let answer = try await exchange(secrets, code, redirect: redirect, metadata)
    let claims = try await claims(of: answer.token)
    guard claims.tree["nonce"]?.text == secrets.nonce else {
      throw OpenIDError(.token, "the token belongs to another sign-in")
    }
    var found = try ProviderIdentity(claims, nil, token: answer.token, configuration)
    if found.name == nil || needsGroups && found.groups == nil, let url = metadata.userInfo,
      let access = answer.access
    {
      let information = try await information(url, access, of: found.subject)
      found = try ProviderIdentity(claims, information, token: answer.token, configuration)
    }
    guard !needsGroups || !found.lacksGroups else {
      throw OpenIDError(
        .provider,
        "the provider leaves out the groups of a user who has many: let it name only those of this client"
      )
    }
    return found
  }

  /// Exchanges a code for tokens (RFC 6749, section 4.1.3).
  private func exchange(
    _ secrets: Secrets, _ code: String, redirect: String, _ metadata: ProviderMetadata
  ) async throws(OpenIDError) -> Tokens {
    // Anybody can come with a code that the provider refuses.
    try await recording(.exchange, except: .provider) { () async throws(OpenIDError) in
      try await tokens(secrets, code, redirect, metadata)
    }
  }

  private func tokens(
    _ secrets: Secrets, _ code: String, _ redirect: String, _ metadata: ProviderMetadata
  ) async throws(OpenIDError) -> Tokens {
    var form = [
      (name: "grant_type", value: "authorization_code"), ("code", code),
      ("redirect_uri", redirect), ("code_verifier", secrets.verifier),
    ]
    var request = ProviderRequest(metadata.token)
    if let secret = configuration.clientSecret, !metadata.takesSecretInBody {
      let pair = [configuration.clientID, secret].map(PercentEncoding.encode)
      request.authorization =
        "Basic " + Data(pair.joined(separator: ":").utf8).base64EncodedString()
    } else {
      form.append(("client_id", configuration.clientID))
      configuration.clientSecret.map { form.append(("client_secret", $0)) }
    }
    request.form = form
    let response = try await send(request)
    let answer = JSONTree(response.body)
    guard response.status == 200, let token = answer?["id_token"]?.text else {
      let error = answer?["error"]?.text
      let code: OpenIDError.Code =
        switch error {
        case _ where response.status >= 500: .away
        case "invalid_client", "unauthorized_client": .client
        default: .provider
        }
      throw OpenIDError(
        code,
        "the provider exchanges no code for a token, and answers \(response.status)"
          + (error.map { ": \($0.printable.prefix(100))" } ?? ""))
    }
    return Tokens(
      token: token,
      access: answer?["access_token"]?.text.flatMap { Self.isHeaderSafe($0) ? $0 : nil })
  }

  /// What more the provider knows of a user (OpenID Connect Core 1.0, section 5.3).
  private func information(
    _ url: String, _ access: String, of subject: String
  ) async throws(OpenIDError) -> JSONTree {
    let response = try await send(ProviderRequest(url, authorization: "Bearer " + access))
    guard response.status == 200, let information = JSONTree(response.body),
      information["sub"]?.text == subject
    else {
      throw OpenIDError(
        .provider, "the provider's userinfo_endpoint answers \(response.status), or of another user"
      )
    }
    return information
  }

  private static func isHeaderSafe(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// What a token of the provider's for this client claims.
  private func claims(of text: String) async throws(OpenIDError) -> TokenClaims {
    let token = try SignedToken(text)
    var keys = try await knownKeys()
    // The provider may have got a key since it was asked.
    if token.candidates(in: keys).isEmpty || token.claims(signedBy: keys) == nil {
      keys = try await knownKeys(renewing: true)
    }
    guard let claims = token.claims(signedBy: keys) else {
      throw OpenIDError(.token, "the token is signed by none of the provider's keys")
    }
    try claims.check(configuration, at: Date().timeIntervalSince1970)
    return claims
  }

  // MARK: - Signing out

  /// Where people sign out, to come back to `redirect` (OpenID Connect RP-Initiated Logout 1.0); nil if they can't.
  ///
  /// Without the `token` of the session the provider asks whether they want to.
  package func endSession(
    token: String?, redirect: String, state: String
  ) async throws(OpenIDError) -> String? {
    guard let url = try await knownMetadata().endSession else { return nil }
    var items = [
      (name: "client_id", value: configuration.clientID), ("post_logout_redirect_uri", redirect),
      ("state", state),
    ]
    if let token, token.utf8.count <= Self.longestHint { items.append(("id_token_hint", token)) }
    return FormEncoding.url(url, items)
  }

  /// Whose sessions a logout token ends (OpenID Connect Back-Channel Logout 1.0, section 2.6).
  ///
  /// - Throws: `token` if it is not valid.
  package func endedSessions(_ token: String) async throws(OpenIDError) -> EndedSessions {
    let claims = try await claims(of: token)
    let event = claims.tree["events"]?["http://schemas.openid.net/event/backchannel-logout"]
    guard case .object? = event, claims.tree["nonce"] == nil, claims.tree["jti"]?.text != nil else {
      throw OpenIDError(.token, "the token is no logout token")
    }
    // It is sent at once. One that comes late would end sessions that began since, too: the times of the two clocks
    // cannot tell these, and one session too many is better than one too few.
    guard claims.number("iat") ?? 0 >= Date().timeIntervalSince1970 - 2 * TokenClaims.leeway else {
      throw OpenIDError(.token, "the logout token is old")
    }
    let session = claims.tree["sid"]?.text
    let subject: String? = if claims.tree["sub"] != nil { try claims.subject() } else { nil }
    guard session != nil || subject != nil else {
      throw OpenIDError(.token, "the logout token names neither user nor session")
    }
    return EndedSessions(subject: subject, session: session)
  }

  // MARK: - What the provider says

  private func knownMetadata() async throws(OpenIDError) -> ProviderMetadata {
    try await metadata.value { [self] () throws(OpenIDError) in
      try await askForMetadata()
    }
  }

  private func askForMetadata() async throws(OpenIDError) -> ProviderMetadata {
    try await recording(.metadata) { () async throws(OpenIDError) in
      try ProviderMetadata(await document(configuration.discovery), of: configuration)
    }
  }

  private func knownKeys(renewing: Bool = false) async throws(OpenIDError) -> [ProviderKey] {
    let metadata = try await knownMetadata()
    return try await keys.value(renewing: renewing) { [self] () throws(OpenIDError) in
      try await askForKeys(metadata)
    }
  }

  private func askForKeys(_ metadata: ProviderMetadata) async throws(OpenIDError) -> [ProviderKey] {
    let keys = try await recording(.keys) { () async throws(OpenIDError) in
      try ProviderKey.all(in: await document(metadata.keys))
    }
    if keys.isEmpty {
      let error = OpenIDError(.provider, "the provider has no key for RS256, PS256 or ES256")
      failures.withLock { $0[.keys] = error }
    }
    return keys
  }

  /// Records whether the provider has answered, and the error if it is not a harmless one.
  private func recording<Value: Sendable>(
    _ step: Step, except harmless: OpenIDError.Code? = nil,
    _ body: () async throws(OpenIDError) -> Value
  ) async throws(OpenIDError) -> Value {
    do throws(OpenIDError) {
      let value = try await body()
      failures.withLock { $0[step] = nil }
      return value
    } catch {
      failures.withLock { $0[step] = error.code == harmless ? nil : error }
      throw error
    }
  }

  private func document(_ url: String) async throws(OpenIDError) -> JSONTree {
    let response = try await send(ProviderRequest(url))
    guard response.status == 200 else {
      throw OpenIDError(
        response.status >= 500 ? .away : .provider, "\(url) answers \(response.status)")
    }
    guard let tree = JSONTree(response.body), case .object = tree else {
      throw OpenIDError(.provider, "\(url) answers something else than JSON")
    }
    return tree
  }

  /// Sends a request when it is its turn.
  private func send(_ request: ProviderRequest) async throws(OpenIDError) -> ProviderResponse {
    let configuration = configuration
    do {
      let result = try await turns.withAdmission {
        () async throws(OpenIDError) -> ProviderResponse in
        try await Self.threads.run { () async throws(OpenIDError) in
          try ProviderConnection.send(request, configuration)
        }
      }
      return try result.get()
    } catch let error as OpenIDError {
      throw error
    } catch {
      throw OpenIDError(.away, "too many sign-ins wait for the provider")
    }
  }
}

/// What a code is exchanged for.
private struct Tokens: Sendable {
  /// Who has signed in.
  let token: String
  /// With which the provider says more; nil if it can't be sent.
  let access: String?
}

/// An answer of a provider that is kept.
private final class KeptAnswer<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var asked: ContinuousClock.Instant?
    /// Why there was no other one, and when.
    var failure: (OpenIDError, at: ContinuousClock.Instant)?
  }

  /// How long an answer is new.
  private static var age: Duration { .seconds(3600) }
  /// How long it is used while there is no other.
  private static var longestAge: Duration { .seconds(86_400) }
  /// How long the provider is not asked again, after an answer and after none.
  private static var pause: Duration { .seconds(10) }

  private let clock: any SteadyClock
  private let state = Mutex(State())
  private let work = SharedWork<Int, Result<Value, OpenIDError>>()

  init(_ clock: any SteadyClock) { self.clock = clock }

  /// What is kept or, if that is old or `renewing`, what `ask` returns.
  func value(
    renewing: Bool = false, _ ask: @escaping @Sendable () async throws(OpenIDError) -> Value
  ) async throws(OpenIDError) -> Value {
    let now = clock.now
    let kept = state.withLock { state -> Result<Value, OpenIDError>? in
      let age = state.asked.map { now - $0 }
      if let value = state.value, let age, age < (renewing ? Self.pause : Self.age) {
        return .success(value)
      }
      guard let failure = state.failure, now - failure.at < Self.pause else { return nil }
      if let value = state.value, let age, age < Self.longestAge { return .success(value) }
      return .failure(failure.0)
    }
    if let kept { return try kept.get() }
    do throws(OpenIDError) {
      let value = try await work.run(0, ask)
      state.withLock { $0 = State(value: value, asked: clock.now) }
      return value
    } catch {
      let earlier = state.withLock { state -> Value? in
        state.failure = (error, clock.now)
        guard let asked = state.asked, clock.now - asked < Self.longestAge else { return nil }
        return state.value
      }
      if let earlier { return earlier }
      throw error
    }
  }
}
