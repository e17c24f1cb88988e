import FoundationEssentials
import HTTP
import RichPushAPI
import Store

/// `/api/tokens`: access tokens, with which programs send for a publisher.
struct AccessTokenRoutes: Sendable {
  let store: Store
  let authenticator: Authenticator

  /// `POST /api/tokens`: a token of the caller's or, for admins, of any publisher's.
  func post(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let new = try JSONCoding.request(NewAccessToken.self, from: context.body)
    let user = try await context.publisher(new.user, in: store, isDemo: authenticator.isDemo)
    if new.isForReading {
      try await store.requireAdmin(
        named: new.user ?? context.caller.name, isDemo: authenticator.isDemo)
    }
    guard let issued = try await IssuedAccessToken.issue(new, for: user, in: store) else {
      throw ServiceError.noSuchUser
    }
    // The password may have been changed meanwhile.
    guard try await store.isCurrent(context.caller) else {
      _ = try await store.accessTokens.removeAccessToken(issued.accessToken.id, of: user)
      throw ServiceError.callerChanged
    }
    return .json(201, issued, fields: ["Cache-Control": "no-store"])
  }

  /// `GET /api/tokens`: the tokens of the caller or, for admins, of any user.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("user")
    let owner = try await context.publisher(
      query["user"], in: store, isDemo: authenticator.isDemo)
    let tokens = try await store.accessTokens.accessTokens(of: owner)
    return .json(200, AccessTokenList(tokens: tokens.map(AccessTokenList.Token.init)))
  }

  /// `DELETE /api/tokens/<id>`: removes a token.
  func delete(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let owner = context.caller.role == .admin ? nil : context.caller.id
    guard let id = context.parameters.first.flatMap({ Int($0) }),
      try await store.accessTokens.removeAccessToken(id, of: owner)
    else { throw ServiceError(.notFound, "There is no such access token.") }
    return .empty(204)
  }
}

extension RequestContext {
  /// The publisher whom a request names, who is the caller unless an admin asks; without a name, the caller.
  func publisher(_ name: String?, in store: Store, isDemo: Bool) async throws -> UserID {
    guard let name, name != caller.name else { return caller.id }
    try Access.admin.check(caller)
    guard let user = try await store.publisher(named: name, isDemo: isDemo) else {
      throw ServiceError.noSuchUser
    }
    return user
  }
}

extension ServiceError {
  /// For a name that no publisher has.
  static let noSuchUser = ServiceError(.notFound, "There is no such user.")
}

extension Store {
  /// The user of a name, who can have access tokens; nil if there is none.
  ///
  /// - Throws: `rejected` if it is a user with the role device.
  func publisher(named name: String, isDemo: Bool) async throws -> UserID? {
    if let user = try await accounts.user(named: name) {
      guard user.role == .device else { return user.id }
      throw ServiceError(
        .rejected,
        "\(name) has the role device, which sends nothing; access tokens are for publishers.")
    }
    return isDemo ? try await accounts.userID(of: name, allowingPasswordless: true) : nil
  }

  /// - Throws: `rejected` if a user, whose access token is to read what admins may, is none.
  func requireAdmin(named name: String, isDemo: Bool) async throws {
    let guest = isDemo ? Caller(guest: name, Caller.anybody.id).role : .device
    guard try await accounts.user(named: name)?.role ?? guest == .admin else {
      throw ServiceError(
        .rejected,
        "\(name) is no admin: only an admin's access token can read the status and the audit log.")
    }
  }
}
