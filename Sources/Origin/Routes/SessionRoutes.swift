import FoundationEssentials
import HTTP
import RichPushAPI
import Store

/// `/api/session`: signing in and out on web pages, by a cookie.
struct SessionRoutes: Sendable {
  let store: Store
  let authenticator: Authenticator
  /// Signs people in and out elsewhere; nil if they have passwords only.
  let provider: ProviderRoutes?

  /// Rejects requests of foreign pages, and those whose cookie could be overheard, before the body is read.
  func mayPost(_ context: RequestContext) throws -> Response? {
    _ = try context.query()
    guard SessionToken.isFromOwnPageOrProgram(context.request) else {
      throw ServiceError(.forbidden, "Only pages of this server may sign in here.")
    }
    _ = try Self.cookieName(for: context.request)
    return nil
  }

  /// `GET /api/sign-in`: whether somebody is signed in, which is no failure if not.
  func state(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let request = context.request
    let isSignedIn =
      SessionToken.isFromOwnPage(request) ? try await hasSession(request) : false
    let settings = authenticator.signIn
    return .json(
      200,
      SignInState(
        signedIn: isSignedIn, demo: authenticator.isDemo,
        singleSignOn: settings.provider == nil ? nil : settings.name,
        passwords: settings.passwordUser == nil))
  }

  /// Whether a request has the cookie of a session, from wherever it was sent.
  func hasSession(_ request: Request) async throws -> Bool {
    guard let token = SessionToken(in: request) else { return false }
    if authenticator.find(token) != nil { return true }
    switch await authenticator.verify(token) {
    case .caller: return true
    case .failed(let error): throw error
    default: return false
    }
  }

  /// `PUT /api/password`: the caller's new password; a page stays signed in by a new cookie, and nothing else does.
  func changePassword(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let (request, caller) = (context.request, context.caller)
    let change = try JSONCoding.request(PasswordChange.self, from: context.body)
    // Before the old password is verified: what is changed later counts.
    let user = try await store.accounts.user(named: caller.name)
    guard authenticator.isDemo || hasPassword(user) else {
      throw ServiceError(
        .conflict,
        "You have no password here: you sign in with \(authenticator.signIn.name), which can change it."
      )
    }
    guard let authorization = Self.authorization(caller.name, change.old) else {
      throw Self.wrongOldPassword
    }
    switch await authenticator.verify(authorization, from: request.peer) {
    case .wrong: throw Self.wrongOldPassword
    case .tooManyFailures(let wait): return RequestDispatcher.tooManyFailures(wait: wait)
    case .busy(let wait): return RequestDispatcher.tooManyLogins(wait: wait)
    case .failed(let error): throw error
    case .caller(let owner, _):
      guard owner.id == caller.id, owner.hasShownPassword else { throw Self.wrongOldPassword }
    }
    let hash = try await authenticator.makeHash(of: change.new, for: caller.name)
    // It may have waited for others.
    try await store.requireCurrent(caller, context.login)
    guard let user else {
      throw ServiceError(.conflict, "In the demonstration every password is the name.")
    }
    var renewal: (token: SessionToken, cookie: String, session: SessionRenewal)?
    if case .session(let current, _, _) = caller.proof,
      let cookie = SessionToken.cookieName(for: request)
    {
      let token = SessionToken()
      renewal = (
        token, cookie,
        SessionRenewal(
          current: current, next: token.hash, userAgent: SessionToken.userAgent(of: request))
      )
    }
    guard
      try await store.accounts.changePassword(
        of: caller.id, from: user.hash, to: hash, renewing: renewal?.session)
    else { throw ServiceError.callerChanged }
    return .empty(204, fields: renewal.map { ["Set-Cookie": $0.token.setCookie($0.cookie)] } ?? [:])
  }

  /// Whether a user could sign in with a password, and change it.
  private func hasPassword(_ user: User?) -> Bool {
    guard let user, user.hasPassword else { return false }
    return authenticator.signIn.admitsPassword(of: user.name)
  }

  /// Begins a session of a user; nil if the user was removed.
  private func addSession(of user: UserID, _ request: Request) async throws -> SessionToken? {
    let token = SessionToken()
    let isAdded = try await store.sessions.addSession(
      token.hash, user: user, userAgent: SessionToken.userAgent(of: request))
    return isAdded ? token : nil
  }

  /// The `Authorization` field for a name and a password; nil if none can have them.
  private static func authorization(_ name: String, _ password: String) -> String? {
    let authorization = "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
    guard UserName.isValid(name), Credentials(authorization) != nil else { return nil }
    return authorization
  }

  /// `POST /api/session`: signs in; 204 with the cookie.
  func post(_ context: RequestContext) async throws -> Response {
    let request = context.request
    let cookie = try Self.cookieName(for: request)
    let login = try JSONCoding.request(SignIn.self, from: context.body)
    guard let authorization = Self.authorization(login.username, login.password) else {
      return wrongPassword
    }
    switch await authenticator.verify(authorization, from: request.peer) {
    case .wrong: return wrongPassword
    case .tooManyFailures(let wait): return RequestDispatcher.tooManyFailures(wait: wait)
    case .busy(let wait): return RequestDispatcher.tooManyLogins(wait: wait)
    case .failed(let error): throw error
    case .caller(let caller, _):
      // A session allows all that its user may, and a token in the place of the password less.
      guard caller.hasShownPassword, let token = try await addSession(of: caller.id, request) else {
        return wrongPassword
      }
      // The user may have been changed meanwhile.
      guard try await store.isCurrent(caller) else {
        let added = try await store.sessions.sessionUser(withToken: token.hash)
        if let added { _ = try await store.sessions.removeSession(added.session, user: added.id) }
        return wrongPassword
      }
      return .empty(204, fields: ["Set-Cookie": token.setCookie(cookie)])
    }
  }

  /// `GET /api/session`: who is signed in, and the user's sessions.
  func get(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let caller = context.caller
    let sessions = try await store.sessions.sessions(of: caller.id)
    return .json(
      200,
      SignedIn(
        username: caller.name, role: caller.role.rawValue, demo: authenticator.isDemo,
        password: hasPassword(try await store.accounts.user(named: caller.name)),
        current: caller.session,
        sessions: sessions.map {
          SignedIn.Session(
            id: $0.id, created: $0.created, used: $0.used, userAgent: $0.userAgent)
        }))
  }

  /// `DELETE /api/session`: signs out; 200 with where to go if the session began at a provider, which has one of its own.
  func delete(_ context: RequestContext) async throws -> Response {
    guard let session = context.caller.session,
      let cookie = SessionToken.cookieName(for: context.request)
    else { throw ServiceError(.notFound, "This request belongs to no session.") }
    let token = try await store.identities.providerToken(ofSession: session)
    let response = try await end(
      session, context, fields: ["Set-Cookie": SessionToken.removeCookie(cookie)])
    guard let token,
      let address = await provider?.endSession(token: token.isEmpty ? nil : token, from: .console)
    else { return response }
    return .json(200, SignedOut(location: address), fields: response.fields)
  }

  /// `DELETE /api/session/<id>`: ends one of the caller's sessions.
  func deleteOne(_ context: RequestContext) async throws -> Response {
    guard let session = context.parameters.first.flatMap({ Int($0) }) else {
      throw Self.noSuchSession
    }
    return try await end(session, context, fields: [:])
  }

  private func end(
    _ session: Int, _ context: RequestContext, fields: Fields
  ) async throws -> Response {
    _ = try context.query()
    guard try await store.sessions.removeSession(session, user: context.caller.id) else {
      throw Self.noSuchSession
    }
    return .empty(204, fields: fields)
  }

  private static let noSuchSession = ServiceError(.notFound, "You have no such session.")

  private static func cookieName(for request: Request) throws(ServiceError) -> String {
    guard let name = SessionToken.cookieName(for: request) else {
      throw ServiceError(
        .forbidden,
        "Sign-in over plain http is possible only on the server's own machine. Use https, or name the "
          + "proxy that ends it with --trusted-proxy.")
    }
    return name
  }

  /// To a page whose session has ended.
  static let signedOut = Response.problem(401, "Sign in first.", fields: signInWanted)

  private static let wrongOldPassword = ServiceError(.forbidden, "The old password is wrong.")

  private var wrongPassword: Response {
    .problem(
      401, "Name or password is wrong\(authenticator.signIn.passwordHint).",
      fields: Self.signInWanted)
  }

  /// Does not offer Basic, for which browsers ask in a box of their own.
  static let signInWanted: Fields = ["WWW-Authenticate": "Cookie realm=\"richpush\""]
}
