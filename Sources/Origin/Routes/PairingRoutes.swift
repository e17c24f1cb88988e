import FoundationEssentials
import HTTP
import RichPushAPI
import Store

/// `/api/pairings` and `/api/pair`: devices that are added by a one-time code instead of a password.
struct PairingRoutes: Sendable {
  let store: Store
  let authenticator: Authenticator
  /// The public URL of this server, if it is known.
  let publicURL: String?

  /// `POST /api/pairings`: a code for a device of the caller's or, for admins, of any user.
  func post(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let wanted =
      context.body.isEmpty ? NewPairing() : try JSONCoding.request(from: context.body)
    let (user, name) = try await owner(wanted.user, context)
    let server = publicURL ?? context.request.ownAddress
    guard
      let pairing = try await IssuedPairing.issue(for: user, named: name, at: server, in: store)
    else { throw Self.noSuchUser }
    // The password may have been changed meanwhile, which ended the codes that there were.
    guard try await store.isCurrent(context.caller) else {
      _ = try await store.pairings.endPairing(pairing.id, user: user)
      throw ServiceError.callerChanged
    }
    return .json(201, pairing, fields: Self.neverStored)
  }

  /// `GET /api/pairings`: the open codes of the caller or, for admins, of any user.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("user")
    let (user, name) = try await owner(query["user"], context)
    return .json(200, try await PairingList.open(of: user, named: name, in: store))
  }

  /// `DELETE /api/pairings/<id>`: revokes an open code.
  func delete(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let owner = context.caller.role == .admin ? nil : context.caller.id
    guard let id = context.parameters.first.flatMap({ Int($0) }),
      try await store.pairings.endPairing(id, user: owner)
    else { throw ServiceError(.notFound, "There is no such open code.") }
    return .empty(204)
  }

  /// `POST /api/pair`: uses a code; a registration without a platform, and its token.
  func pair(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let use = try JSONCoding.request(PairingUse.self, from: context.body)
    let id = try RegistrationRoutes.check(id: use.registration ?? RegistrationRoutes.newID())
    let token = DeviceToken()
    var device = NewDevice(registration: id, token: token.hash)
    device.name = try RegistrationRoutes.check(name: use.name)
    device.language = try RegistrationRoutes.check(language: use.language)
    device.timeZone = try RegistrationRoutes.check(timeZone: use.timeZone)
    device.origin = RegistrationRoutes.origin(context.request, credential: "code")
    return try await withTry(of: use.code, context.request) { [device] code in
      switch try await store.pairings.redeemPairing(code.hash, for: device) {
      case .unknown: return nil
      case .ended: throw Self.ended
      case .notOwn: throw RegistrationRoutes.notOwn(id)
      case .paired(_, let name):
        return .json(
          201, PairedDevice(registration: id, user: name, token: token.text),
          fields: Self.neverStored)
      }
    }
  }

  /// `POST /api/pair/forward`: ends a code, and makes another for the same user, which the app on a home screen gets.
  func forward(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let use = try JSONCoding.request(PairingForward.self, from: context.body)
    let next = PairingCode.long()
    return try await withTry(of: use.code, context.request) { code in
      switch try await store.pairings.forwardPairing(code.hash, to: next.hash) {
      case .unknown: return nil
      case .ended: throw Self.ended
      case .forwarded(let pairing):
        return .json(
          201, NextPairing(code: next.text, expires: pairing.expires), fields: Self.neverStored)
      }
    }
  }

  /// The response of `use` for a code, unless its sender has tried too many wrong ones; `use` returns nil if there is no
  /// such code.
  private func withTry(
    of text: String, _ request: Request, _ use: (PairingCode) async throws -> Response?
  ) async throws -> Response {
    if let wait = authenticator.failures.waitForCode(from: request.peer) {
      return RequestDispatcher.tooManyCodes(wait: wait)
    }
    guard let code = PairingCode(text) else { throw Self.unknown }
    do {
      guard let response = try await use(code) else { throw Self.unknown }
      authenticator.failures.codeWasRight(from: request.peer)
      return response
    } catch {
      if error as? ServiceError != Self.unknown {
        authenticator.failures.codeWasRight(from: request.peer)
      }
      throw error
    }
  }

  /// The user whom a request names, or else the caller.
  private func owner(
    _ name: String?, _ context: RequestContext
  ) async throws -> (UserID, name: String) {
    guard let name, name != context.caller.name else {
      return (context.caller.id, context.caller.name)
    }
    guard context.caller.role == .admin else {
      throw ServiceError(.forbidden, "Only an admin may add devices of other users.")
    }
    guard UserName.isValid(name),
      let id = try await store.accounts.userIDs(
        of: [name], allowingPasswordless: authenticator.isDemo)[name]
    else { throw Self.noSuchUser }
    return (id, name)
  }

  private static let neverStored: Fields = ["Cache-Control": "no-store"]
  private static let noSuchUser = ServiceError(.notFound, "There is no such user.")
  private static let unknown = ServiceError(
    .notFound, "There is no such code. Check what you have typed.")
  private static let ended = ServiceError(
    .gone, "This code was used or revoked, or it has expired. Ask for another.")
}

extension HTTP.Request {
  /// The address of this server as the client has named it.
  var ownAddress: String { "\(isSecure ? "https" : "http")://\(fields["Host"] ?? "localhost")" }
}
