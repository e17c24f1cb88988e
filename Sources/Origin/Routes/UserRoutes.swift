import FoundationEssentials
import HTTP
import Primitives
import RichPushAPI
import Store

/// `/api/users` and `/api/failed-logins`, for administrators, and users' attributes, for publishers.
struct UserRoutes: Sendable {
  let store: Store
  let authenticator: Authenticator

  /// `GET /api/users`: the users by name; in demo mode with those who have no password.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("after", "limit")
    let limit = try query.number("limit", 1...500) ?? 100
    let found = try await store.administration.users(
      after: query["after"] ?? "", includingPasswordless: authenticator.isDemo, limit: limit + 1)
    let page = found.prefix(limit)
    let identities = try await store.identities.identities(of: page.map(\.id))
    let users = page.map { UserPage.User($0, identities[$0.id] ?? []) }
    return .json(200, UserPage(users: users, next: found.count > limit ? page.last?.name : nil))
  }

  /// `PUT /api/users/<name>`: adds a user (201), or changes role, password and the most devices.
  func put(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    guard let name = context.parameters.first, UserName.isValid(name) else {
      throw ServiceError(
        .invalidRequest, "A user's name must have from 1 to 64 letters, digits and “-_.@”.")
    }
    let change = try JSONCoding.request(UserChange.self, from: context.body)
    guard let role = Role(rawValue: change.role) else {
      throw ServiceError(.invalidRequest, "role must be device, publisher or admin.")
    }
    if let number = change.maxDevices, !UserQuota.settableDevices.contains(number) {
      throw ServiceError(
        .invalidRequest,
        "maxDevices must be a number from 1 to \(UserQuota.settableDevices.upperBound).")
    }
    if role != .admin { try requireNotPasswordUser(name) }
    var hash: String?
    if let password = change.password {
      hash = try await authenticator.makeHash(of: password, for: name)
      // It may have waited for others.
      try await store.requireCurrent(context.caller, context.login)
    } else if try await store.accounts.user(named: name) == nil {
      throw ServiceError(.rejected, "A new user needs a password.")
    }
    let isNew = try await store.administration.putUser(
      name, role: role, hash: hash, endingRegistrations: change.endRegistrations ?? false,
      maxDevices: change.maxDevices)
    return .empty(isNew ? 201 : 204)
  }

  /// `DELETE /api/users/<name>`: removes a user, unless it is the last admin; with `?erase` everything of the user, of
  /// which some follows (202).
  func delete(_ context: RequestContext) async throws -> Response {
    try requireNotPasswordUser(context.parameters.first)
    if let erase = try context.query("erase")["erase"] {
      guard erase.isEmpty else {
        throw ServiceError(.invalidRequest, "?erase has no value: without it, the user is removed.")
      }
      guard try await store.erasures.beginErasure(of: user(context), keepingAdmin: true) else {
        throw Self.noSuchUser
      }
      return .empty(202)
    }
    guard let name = context.parameters.first,
      try await store.administration.removeUserUnlessLastAdmin(name)
    else { throw Self.noSuchUser }
    return .empty(204)
  }

  /// - Throws: `conflict` for the only user who can sign in with a password.
  private func requireNotPasswordUser(_ name: String?) throws(ServiceError) {
    guard let name, name == authenticator.signIn.passwordUser else { return }
    throw ServiceError(
      .conflict,
      "Only \(name) can sign in with a password (--password-sign-in), and must stay an admin.")
  }

  /// `DELETE /api/users/<name>/tokens`: ends the user's sessions, access tokens and the tokens of its devices; with
  /// `?registrations` the registrations, too.
  func endCredentials(_ context: RequestContext) async throws -> Response {
    let query = try context.query("registrations")
    guard
      try await store.administration.endCredentials(
        of: user(context), endingRegistrations: query["registrations"] != nil)
    else { throw Self.noSuchUser }
    return .empty(204)
  }

  /// `GET /api/users/<name>/devices`: the user's devices by registration, without their push tokens.
  func devices(_ context: RequestContext) async throws -> Response {
    .json(200, try await DeviceList(context, of: user(context), in: store))
  }

  /// `GET /api/users/<name>/attributes`: what is known of a user, for placeholders.
  func attributes(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let values = try await store.accounts.attributes(of: user(context))
    return .json(200, UserAttributes(values))
  }

  /// `PUT /api/users/<name>/attributes`: replaces what is known of a user.
  func putAttributes(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let attributes = try JSONCoding.request(UserAttributes.self, from: context.body)
    if let error = ServiceError(attributes.faults) { throw error }
    guard let name = context.parameters.first else { throw Self.noSuchUser }
    let known = try await store.accounts.setAttributes([name: attributes.values])
    guard !known.isEmpty else { throw Self.noSuchUser }
    return .empty(204)
  }

  /// `POST /api/attributes`: replaces what is known of many users; those that do not exist are named.
  func importAttributes(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let users = try JSONCoding.request(AttributeImport.self, from: context.body).users
    guard !users.isEmpty else { throw ServiceError(.rejected, "The body names no user.") }
    var faults: [ServiceError.Fault] = []
    for (name, values) in users.sorted(by: { $0.key < $1.key }) where faults.count < 20 {
      faults += UserAttributes(values).faults.map {
        .init(name, $0.code, "\(name.quoted): \($0.reason)")
      }
    }
    if let error = ServiceError(faults) { throw error }
    let known = try await store.accounts.setAttributes(users)
    return .json(
      200,
      AttributeReport(
        changed: known.count, unknown: users.keys.filter { !known.contains($0) }.sorted()))
  }

  /// `GET /api/failed-logins`: the addresses and names that have to wait after wrong passwords.
  func refusals(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let now = Date()
    return .json(
      200,
      FailedLoginReport(
        refused: authenticator.failures.refusals(limit: 500).map {
          FailedLoginReport.Refusal(
            address: $0.address, username: $0.username, failures: $0.failures,
            until: now + Double($0.wait))
        }))
  }

  private func user(_ context: RequestContext) async throws -> UserID {
    guard let name = context.parameters.first,
      let id = try await store.accounts.userID(
        of: name, allowingPasswordless: authenticator.isDemo)
    else { throw Self.noSuchUser }
    return id
  }

  private static let noSuchUser = ServiceError(.notFound, "There is no such user.")
}

extension UserPage.User {
  fileprivate init(_ user: UserSummary, _ linked: [Identity]) {
    let role = user.isPasswordless ? Caller(guest: user.name, user.id).role : user.role
    self.init(
      username: user.name, role: role.rawValue, created: user.created, devices: user.devices,
      maxDevices: user.maxDevices, lastSeen: user.lastSeen)
    identities = linked.map { ProviderIdentity(provider: $0.issuer, subject: $0.subject) }
  }
}
