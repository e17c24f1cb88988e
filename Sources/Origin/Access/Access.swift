import FoundationEssentials
import Primitives
import RichPushAPI
package import Store

/// Who may use a route.
enum Access: Sendable, Equatable {
  /// Everyone, without credentials.
  case anybody
  /// Every user.
  case user
  /// Publishers and admins.
  case publisher
  /// Admins.
  case admin

  /// Checks the caller's role.
  ///
  /// - Throws: `forbidden`, with a sentence that names the required role.
  func check(_ caller: Caller) throws(ServiceError) {
    let (isAllowed, required) =
      switch self {
      case .anybody, .user: (true, "")
      case .publisher: (caller.mayPublish, "a publisher or an admin")
      case .admin: (caller.role == .admin, "an admin")
      }
    guard isAllowed else {
      throw ServiceError(
        .forbidden,
        "Only \(required) may do this; the account \(caller.name.quoted) has the role \(caller.role.rawValue)."
      )
    }
  }
}

/// Which credentials a route admits, besides the role that it requires; a password always counts.
struct Admission: OptionSet {
  let rawValue: Int

  /// The cookie of a session.
  static let session = Admission(rawValue: 1)
  /// The token of a device, only for the registration in the path.
  static let ownToken = Admission(rawValue: 2)
  /// The token of any device of the user.
  static let token = Admission(rawValue: 6)
  /// The password alone: it was entered for this.
  static let password: Admission = []
  /// What a push to a device of the user carries, only for the notification in the path; it alone shows no more than
  /// that a device or somebody else got that push.
  static let push = Admission(rawValue: 8)
  /// Every access token with which notifications may be sent.
  static let accessToken = Admission(rawValue: 16)
  /// Those access tokens that may read receipts.
  static let receiptsToken = Admission(rawValue: 32)
  /// Those access tokens that may upload assets.
  static let assetsToken = Admission(rawValue: 64)
  /// The address of a webhook.
  static let webhook = Admission(rawValue: 128)
  /// Those access tokens of admins that may read how the server is.
  static let statusToken = Admission(rawValue: 256)
  /// Those access tokens of admins that may read the audit log.
  static let auditToken = Admission(rawValue: 512)
  /// Whatever shows who the caller is, but no access token: where one counts, a route says so.
  static let all: Admission = [.session, .token]

  /// Checks what the caller has shown.
  ///
  /// - Throws: `unauthorized` for a session or a push, `forbidden` for a token, with a sentence that says what is admitted.
  func check(_ caller: Caller, _ parameters: [String]) throws(ServiceError) {
    switch caller.proof {
    case .name, .password: return
    case .session:
      if contains(.session) { return }
      throw ServiceError(
        .unauthorized, "A session does not count here: send name and password with this request.")
    case .push(let push):
      if contains(.push), parameters.first == String(push.notification) { return }
      throw ServiceError(.unauthorized, "A push's link or secret counts only for its notification.")
    case .token(_, let device):
      if contains(.token) || contains(.ownToken) && parameters.first == device { return }
      throw ServiceError(
        .forbidden,
        contains(.ownToken)
          ? "A device's token counts only for its own registration, \(device)."
          : "A device's token does not allow this; send name and password.")
    case .accessToken(_, _, let scope): try check(scope)
    }
  }

  private func check(_ scope: AccessTokenScope) throws(ServiceError) {
    guard !scope.isWebhook else {
      if contains(.webhook) { return }
      throw ServiceError(
        .forbidden, "The address of a webhook counts only for what is posted there.")
    }
    if contains(.accessToken), !scope.isForReading { return }
    let missing: String
    if contains(.receiptsToken) {
      if scope.readsReceipts { return }
      missing = "read receipts"
    } else if contains(.assetsToken) {
      if scope.uploadsAssets { return }
      missing = "use assets"
    } else if contains(.statusToken) {
      if scope.readsStatus { return }
      missing = "read the status"
    } else if contains(.auditToken) {
      if scope.readsAudit { return }
      missing = "read the audit log"
    } else if contains(.accessToken) {
      missing = "do this"
    } else {
      throw ServiceError(
        .forbidden, "An access token does not allow this; send name and password.")
    }
    throw ServiceError(
      .forbidden, "This access token may not \(missing): make one that may, or send a password.")
  }
}

/// The user, or the user's device, whose credentials a request carries.
package struct Caller: Sendable, Hashable {
  /// What the caller has shown.
  enum Proof: Sendable, Hashable {
    /// In demo mode, the name.
    case name
    /// A password with this hash, hashed once more.
    case password(KeyedHash.Value)
    /// The token of a device; the hash of the token.
    case token(Digest, device: String)
    /// The cookie of a session; the hash of its token.
    case session(Digest, id: Int, expires: Date)
    /// What a push carries.
    case push(PushProof)
    /// An access token; its hash, its number and what it allows. Apart from the others, which are remembered by the
    /// million, since it is larger.
    indirect case accessToken(Digest, id: Int, AccessTokenScope)
  }

  /// Identifies the user; the name may belong to another user later.
  package let id: UserID
  package let name: String
  package let role: Role
  let proof: Proof

  /// The caller of a route that needs no credentials.
  static let anybody = Caller(id: UserID(rawValue: 0), name: "", role: .device, proof: .name)

  /// Whether the role allows notifications for others, uploads and asset lists.
  var mayPublish: Bool { role != .device }

  /// The registration of the device whose token was sent, or whose push was.
  var device: String? {
    switch proof {
    case .token(_, let device): device
    case .push(let push): push.device
    case .name, .password, .session, .accessToken: nil
    }
  }

  /// Whether what was shown allows to answer for the device: its token, or the secret of a push to it.
  var mayAnswer: Bool {
    switch proof {
    case .token: true
    case .push(let push): push.isSecret
    case .name, .password, .session, .accessToken: false
    }
  }

  /// Whether the user's password was sent, which in demo mode is the name.
  var hasShownPassword: Bool {
    switch proof {
    case .name, .password: true
    case .token, .session, .push, .accessToken: false
    }
  }

  /// The session whose cookie was sent.
  var session: Int? { if case .session(_, let id, _) = proof { id } else { nil } }

  /// Whether the time of the session or of the access token is over.
  func hasEnded(at time: @autoclosure () -> Date) -> Bool {
    switch proof {
    case .session(_, _, let expires): expires <= time()
    case .accessToken(_, _, let scope): scope.expires.map { $0 <= time() } ?? false
    case .name, .password, .token, .push: false
    }
  }
}

extension Caller {
  /// A guest of demo mode.
  init(guest name: String, _ id: UserID) {
    self.init(id: id, name: name, role: Self.role(ofGuest: name), proof: .name)
  }

  /// The user of a session; `hash` is that of its token.
  init(_ user: SessionUser, hash: Digest) {
    let role = user.isPasswordless ? Self.role(ofGuest: user.name) : user.role
    let proof = Proof.session(hash, id: user.session, expires: user.expires)
    self.init(id: user.id, name: user.name, role: role, proof: proof)
  }

  /// The user of an access token, who is never more than a publisher unless it only reads; nil if the user is less.
  init?(_ owner: AccessTokenOwner, hash: Digest) {
    let role = owner.isPasswordless ? Self.role(ofGuest: owner.name) : owner.role
    guard role != .device else { return nil }
    let proof = Proof.accessToken(hash, id: owner.token, owner.scope)
    self.init(
      id: owner.user, name: owner.name, role: owner.scope.isForReading ? role : .publisher,
      proof: proof)
  }

  private static func role(ofGuest name: String) -> Role { name == "admin" ? .admin : .publisher }
}

extension ServiceError {
  /// For a request whose user was removed, signed out or changed before it had an effect.
  static let callerChanged = ServiceError(
    .unauthorized, "The account was removed or changed while the request was received.")
}

extension Caller.Proof {
  private static let keyed = KeyedHash()

  /// A password that was compared with this hash.
  static func password(_ hash: String) -> Self { .password(keyed(hash)) }
}

extension Store {
  /// Checks again, before a request has an effect, what was checked when it began: its body may have taken
  /// hours, and its user may have been removed meanwhile.
  ///
  /// - Throws: `unauthorized` if the credentials or the role are not what they were.
  func requireCurrent(_ caller: Caller, _ login: Login?) async throws {
    guard let login, !login.isCurrent || caller.hasEnded(at: now()) else { return }
    guard try await isCurrent(caller) else { throw ServiceError.callerChanged }
  }

  /// Whether a caller whose credentials were verified before is still that user, with that password, token or
  /// session and that role, and what the token allows.
  func isCurrent(_ caller: Caller) async throws -> Bool {
    switch caller.proof {
    case .name: return try await accounts.isUser(caller.id)
    case .token(let hash, let device):
      let found = try await accounts.device(withToken: hash)
      return found?.user == caller.id && found?.registration == device
    case .push(let push):
      let found = try await outbox.addressee(of: push.job)
      return found?.user == caller.id && (found?.isRegistered == true || !push.isSecret)
    case .session(let hash, _, _):
      return try await sessions.sessionUser(withToken: hash).map { Caller($0, hash: hash) }
        == caller
    case .accessToken(let hash, _, _):
      return try await accessTokens.owner(ofAccessToken: hash).map { Caller($0, hash: hash) }
        == caller
    case .password:
      let user = try await accounts.user(named: caller.name)
      return user?.id == caller.id && user?.role == caller.role
        && user.map { .password($0.hash) } == caller.proof
    }
  }
}
