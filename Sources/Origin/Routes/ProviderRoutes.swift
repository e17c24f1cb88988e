import FoundationEssentials
import HTTP
import OpenID
import Primitives
import RichPushAPI
import Store

/// `/auth/`: signing in and out at a provider of OpenID Connect.
struct ProviderRoutes: Sendable {
  let provider: OpenIDProvider
  /// Told of what a sign-in has shown of the provider.
  let monitor: ProviderMonitor
  let settings: SignInSettings
  /// The public URL of this server, to which the provider sends people back.
  let publicURL: String
  /// Where people go who have not said where.
  let home: SignInAttempt.Target
  let store: Store
  let failures: FailedLogins
  let log: Log

  /// Nil if people sign in with passwords only.
  init?(
    _ configuration: OriginConfiguration, store: Store, failures: FailedLogins,
    conditions: Conditions, clock: any SteadyClock, log: Log
  ) {
    guard let provider = configuration.signIn.provider, let publicURL = configuration.publicURL
    else { return nil }
    self.provider = OpenIDProvider(provider, clock: clock)
    monitor = ProviderMonitor(self.provider, conditions: conditions, clock: clock)
    (settings, self.publicURL) = (configuration.signIn, publicURL)
    home = configuration.hasConsole ? .console : .app
    // Anybody can come here with anything, and while the provider is away.
    (self.store, self.failures, self.log) = (store, failures, log.limited(clock: clock))
  }

  /// The routes; browsers come to them, so that problems are pages.
  var routes: [Route] {
    [
      Route("GET", "/auth/sign-in", for: .anybody, begin),
      Route(
        "GET", "/auth/callback", for: .anybody, deadline: .seconds(90), isSafe: false, finish),
      Route("GET", "/auth/sign-out", for: .anybody, signOut),
      Route("GET", "/auth/signed-out", for: .anybody, signedOut),
      Route(
        "POST", "/auth/back-channel-logout", for: .anybody, body: .memory(limit: 70 << 10),
        endSessions),
    ]
  }

  private var redirect: String { publicURL + "/auth/callback" }

  // MARK: - Signing in

  /// `GET /auth/sign-in?to=console`: sends people to the provider.
  private func begin(_ context: RequestContext) async throws -> Response {
    let target = SignInAttempt.Target(rawValue: context.request.query["to"] ?? "") ?? home
    do {
      guard let cookie = SessionToken.cookieName(for: context.request) else {
        throw ProviderProblem.insecure
      }
      let attempt = SignInAttempt(to: target, at: store.now())
      guard let key = try await store.tickets.ticketKeys().first else {
        throw ServiceError(.internalError, "There is no key for sign-ins.")
      }
      defer { monitor.update() }
      let address = try await provider.address(for: attempt.secrets(key), redirect: redirect)
      return .empty(
        303, fields: Self.fields(location: address, setCookie: attempt.setCookie(cookie)))
    } catch { return try page(error, target, context) }
  }

  /// `GET /auth/callback`: people come back from the provider.
  private func finish(_ context: RequestContext) async throws -> Response {
    let attempt = SignInAttempt(in: context.request)
    let target = attempt?.target ?? home
    do {
      guard let cookie = SessionToken.cookieName(for: context.request) else {
        throw ProviderProblem.insecure
      }
      guard let attempt, let state = Self.parameter("state", context),
        let secrets = attempt.secrets(try await store.tickets.ticketKeys(), state: state)
      else { throw ProviderProblem.otherBrowser }
      // Anybody can begin a sign-in, and come back with any code; it is taken back when it was right.
      if let wait = failures.waitForSignIn(from: context.request.peer) {
        throw ServiceError(.tooManyRequests, "Too many sign-ins have failed.", retryAfter: wait)
      }
      if attempt.hasEnded(at: store.now()) { throw ProviderProblem.tooLate }
      if let error = Self.parameter("error", context) {
        let detail = Self.parameter("error_description", context) ?? ""
        log(
          .notice, "sign-in",
          "the provider signs nobody in: \(error.prefix(60)) \(detail.prefix(200))",
          request: context.request.id)
        throw ProviderProblem.denied(String(error.prefix(60)))
      }
      guard let code = Self.parameter("code", context) else { throw ProviderProblem.unusable }
      defer { monitor.update() }
      let identity = try await provider.identity(
        secrets, code: code, issuer: Self.parameter("iss", context), redirect: redirect,
        needsGroups: settings.needsGroups)
      failures.signInWasRight(from: context.request.peer)
      return try await begin(attempt, as: identity, cookie, context)
    } catch {
      if let code = (error as? OpenIDError)?.code, [.away, .client].contains(code) {
        failures.signInWasRight(from: context.request.peer)
      }
      if Self.isRefusal(error) {
        try? await store.audit.addFailedSignIn(of: nil, from: context.request.peer)
      }
      return try page(error, target, context)
    }
  }

  /// Whether somebody is not let in: not because the provider is away or refuses this server, or the browser forgot.
  private static func isRefusal(_ error: any Error) -> Bool {
    switch error {
    case let problem as ProviderProblem:
      problem == .usedBefore || (problem.status == 403 && problem != .insecure)
    case let error as OpenIDError: ![.away, .client].contains(error.code)
    default: false
    }
  }

  /// Begins what somebody has signed in for: a session for the console, a code for the app.
  private func begin(
    _ attempt: SignInAttempt, as identity: ProviderIdentity, _ cookie: String,
    _ context: RequestContext
  ) async throws -> Response {
    let (token, code) = (SessionToken(), PairingCode.long())
    let agent = SessionToken.userAgent(of: context.request)
    var new = ProviderSignIn(
      attempt.hash,
      of: Identity(issuer: provider.configuration.issuer, subject: identity.subject),
      beginning: attempt.target == .app
        ? .pairing(code.hash) : .session(token.hash, userAgent: agent))
    switch settings.decision(for: identity.groups ?? []) {
    case .asBefore: break
    case .role(let role): new.role = role
    case .refused: throw ProviderProblem.noGroup
    }
    let name = identity.name.flatMap { UserName.isValid($0) ? $0 : nil }
    new.newName = settings.makesUsers && name != settings.passwordUser ? name : nil
    // Otherwise nobody could sign in while the provider is away.
    new.keptAdmin = settings.passwordUser
    (new.session, new.token) = (identity.session, identity.token)
    switch try await store.identities.signIn(new) {
    case .signedIn(let id, _, let isNew):
      if isNew {
        log(.info, "sign-in", "added user \(id.rawValue), who signed in at the provider")
      }
    case .used: throw ProviderProblem.usedBefore
    case .nameTaken(let name):
      throw ProviderProblem.nameTaken(name, subject: identity.subject)
    case .unknown where settings.makesUsers && name == nil:
      throw ProviderProblem.noName(subject: identity.subject)
    case .unknown: throw ProviderProblem.notLinked(subject: identity.subject)
    }
    // The app redeems the code at once, as one that a link has brought.
    let location = attempt.target == .app ? "../app/#pair=\(code.text)" : "../console/"
    var fields = Self.fields(location: location, setCookie: SignInAttempt.removeCookie(cookie))
    if attempt.target == .console { fields.append("Set-Cookie", token.setCookie(cookie)) }
    return .empty(303, fields: fields)
  }

  /// The page for an error.
  ///
  /// - Throws: the error, if it has nothing to do with the provider.
  private func page(
    _ error: any Error, _ target: SignInAttempt.Target, _ context: RequestContext
  ) throws -> Response {
    let problem: ProviderProblem
    switch error {
    case let error as ProviderProblem: problem = error
    case let error as OpenIDError:
      problem = error.code == .away ? .away : .unusable
      log(
        error.code == .token ? .notice : .warning, "sign-in", error.reason,
        request: context.request.id)
    case let error as StoreError where error.code == .conflict || error.code == .exhausted:
      problem = .tooManyDevices
    default: throw error
    }
    var response = ProviderPage.response(
      problem, provider: settings.name, target: target, context)
    if let cookie = SessionToken.cookieName(for: context.request) {
      response.fields.append("Set-Cookie", SignInAttempt.removeCookie(cookie))
    }
    return response
  }

  /// A parameter of a redirection; nil if it is missing, or there twice.
  ///
  /// Unknown ones are ignored (RFC 6749, section 4.1.2).
  private static func parameter(_ name: String, _ context: RequestContext) -> String? {
    let values = context.request.query.items.filter { $0.name == name }.map(\.value)
    return values.count == 1 && !values[0].isEmpty ? values[0] : nil
  }

  private static func fields(location: String, setCookie: String? = nil) -> Fields {
    var fields: Fields = [
      "Location": location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
    ]
    if let setCookie { fields.append("Set-Cookie", setCookie) }
    return fields
  }

  // MARK: - Signing out

  /// Where the provider ends the session of which it has given a token, and then sends people back; nil if it has no such
  /// place, or is away.
  func endSession(token: String?, from target: SignInAttempt.Target) async -> String? {
    do throws(OpenIDError) {
      return try await provider.endSession(
        token: token, redirect: publicURL + "/auth/signed-out", state: target.rawValue)
    } catch {
      log(.warning, "sign-in", "nobody is signed out at the provider: \(error.reason)")
      return nil
    }
  }

  /// `GET /auth/sign-out?to=app`: sends people to where the provider signs them out, after the app has done so here.
  private func signOut(_ context: RequestContext) async throws -> Response {
    let target = SignInAttempt.Target(rawValue: context.request.query["to"] ?? "") ?? .app
    let address = await endSession(token: nil, from: target)
    return .empty(303, fields: Self.fields(location: address ?? "../\(target.rawValue)/"))
  }

  /// `GET /auth/signed-out`: people come back from the provider.
  private func signedOut(_ context: RequestContext) async throws -> Response {
    let target = Self.parameter("state", context).flatMap(SignInAttempt.Target.init) ?? home
    return .empty(303, fields: Self.fields(location: "../\(target.rawValue)/"))
  }

  /// `POST /auth/back-channel-logout`: the provider ends sessions.
  private func endSessions(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    guard let token = Query(encoded: context.body.span)?["logout_token"] else {
      throw ServiceError(.invalidRequest, "The form has no logout_token.")
    }
    let ended: EndedSessions
    do throws(OpenIDError) { ended = try await provider.endedSessions(token) } catch {
      log(
        error.code == .token ? .notice : .warning, "sign-in",
        "back-channel logout: \(error.reason)", request: context.request.id)
      if error.code == .away {
        throw ServiceError(.unavailable, "The provider's keys are out of reach.", retryAfter: 10)
      }
      throw ServiceError(.invalidRequest, "The logout token is not valid: \(error.reason).")
    }
    _ = try await store.identities.endSessions(
      at: provider.configuration.issuer, subject: ended.subject, session: ended.session)
    return .empty(200, fields: ["Cache-Control": "no-store"])
  }
}
