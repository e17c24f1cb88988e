package import FoundationEssentials

/// Who changes something, with what, and from where.
package struct AuditActor: Sendable, Hashable {
  /// What it is.
  package enum Kind: String, Sendable, CaseIterable {
    /// A user; the number is the user's.
    case user
    /// Somebody who has shown nothing yet.
    case anybody
    /// The server itself.
    case server
    /// A command on the server's machine; the number is that of the Unix user.
    case command
    /// The person or program that has put a file into the drop folder.
    case dropFolder = "drop-folder"
  }

  /// What a user has shown.
  package enum Credential: String, Sendable, CaseIterable {
    /// In demo mode, the name.
    case name
    case password, session
    /// The token of a device, or what a push to it carries.
    case device, push
    /// An access token, or the address of a webhook.
    case token
    /// A code to pair a device.
    case code
    /// A sign-in at a provider of OpenID Connect.
    case provider
  }

  /// What it is.
  package let kind: Kind
  /// The user's number, or the Unix user's.
  package let number: Int?
  /// What the user has shown.
  package var credential: Credential?
  /// The number of the session or of the access token, or the device's registration.
  package var credentialID: String?
  /// The client's address.
  package var address: String?
  /// The ID of the request.
  package var request: String?
  /// Whether it is more than a recipient or a stranger.
  package let isPrivileged: Bool

  init(_ kind: Kind, number: Int? = nil, isPrivileged: Bool) {
    (self.kind, self.number, self.isPrivileged) = (kind, number, isPrivileged)
  }

  /// A user with a role.
  package static func user(_ user: UserID, role: Role) -> AuditActor {
    AuditActor(.user, number: user.rawValue, isPrivileged: role != .device)
  }

  /// Somebody who has shown nothing yet.
  package static let anybody = AuditActor(.anybody, isPrivileged: false)
  /// The server itself.
  package static let server = AuditActor(.server, isPrivileged: true)
  /// The drop folder.
  package static let dropFolder = AuditActor(.dropFolder, isPrivileged: true)

  /// A command that a Unix user runs.
  package static func command(unixUser: Int) -> AuditActor {
    AuditActor(.command, number: unixUser, isPrivileged: true)
  }

  /// The same with the address and the request of another.
  func from(_ other: AuditActor?) -> AuditActor {
    var actor = self
    (actor.address, actor.request) = (other?.address, other?.request)
    return actor
  }

  /// Who makes the changes of this task or, if that is somebody who has shown nothing yet, the user who now has.
  static func shown(_ credential: Credential, of user: UserID, _ role: Role) -> AuditActor {
    let current = Self.current
    if let current, current.kind != .anybody { return current }
    var actor = AuditActor.user(user, role: role).from(current)
    actor.credential = credential
    return actor
  }

  /// Who makes the changes of this task; nil for the server itself and the drop folder, and in a request that changes
  /// nothing.
  ///
  /// A change takes it with it to the thread that commits it.
  @TaskLocal package static var current: AuditActor?
}

/// What was done; the codes are part of the API.
package enum AuditAction: String, Sendable, CaseIterable {
  case sessionStarted = "session.started"
  case sessionEnded = "session.ended"
  case signInFailed = "sign-in.failed"
  case userAdded = "user.added"
  case userRemoved = "user.removed"
  case userExported = "user.exported"
  case userSignedUp = "user.signed-up"
  case userApproved = "user.approved"
  case userLinked = "user.linked"
  case userUnlinked = "user.unlinked"
  case userRoleChanged = "user.role-changed"
  case userPasswordChanged = "user.password-changed"
  case userLimitChanged = "user.limit-changed"
  case userCredentialsEnded = "user.credentials-ended"
  case attributesChanged = "user.attributes-changed"
  case deviceAdded = "device.added"
  case deviceRemoved = "device.removed"
  case deviceTokenAdded = "device.token-added"
  case deviceTokensRemoved = "device.tokens-removed"
  case pairingAdded = "pairing.added"
  case pairingRemoved = "pairing.removed"
  case tokenAdded = "token.added"
  case tokenRemoved = "token.removed"
  case webhookAdded = "webhook.added"
  case webhookRemoved = "webhook.removed"
  case linkKeyAdded = "key.added"
  case linkKeyRemoved = "key.removed"
  case ticketKeysRemoved = "key.tickets-removed"
  case notificationSent = "notification.sent"
  case notificationScheduled = "notification.scheduled"
  case notificationAmended = "notification.amended"
  case notificationWithdrawn = "notification.withdrawn"
  case notificationApproved = "notification.approved"
  case notificationDeclined = "notification.declined"
  case assetAdded = "asset.added"
  case assetReplaced = "asset.replaced"
  case assetRestored = "asset.restored"
  case assetDescribed = "asset.described"
  case assetRenamed = "asset.renamed"
  case assetRemoved = "asset.removed"
  case segmentAdded = "segment.added"
  case segmentChanged = "segment.changed"
  case segmentRemoved = "segment.removed"
  case pushReplayed = "push.replayed"
  case pushCancelled = "push.cancelled"
  case servicePaused = "service.paused"
  case serviceResumed = "service.resumed"
  case serviceDevicesRestored = "service.devices-restored"
  case serverStarted = "server.started"
  case settingChanged = "setting.changed"
  case storeBackedUp = "store.backed-up"
}

/// The part of the audit log in which an entry is: each has a limit of its own, so that none displaces the others.
enum AuditShare: Int, CaseIterable {
  /// What recipients and strangers did.
  case others = 0
  /// Notifications, assets, pushes and attributes.
  case publishing = 1
  /// Users, credentials, keys, settings and the rest.
  case administration = 2

  init(_ action: AuditAction, by actor: AuditActor) {
    self =
      switch action {
      case _ where !actor.isPrivileged: .others
      case .notificationSent, .notificationScheduled, .notificationAmended, .notificationWithdrawn,
        .assetAdded, .assetReplaced, .assetRestored, .assetDescribed, .assetRenamed, .assetRemoved,
        .attributesChanged, .pushReplayed, .pushCancelled:
        .publishing
      default: .administration
      }
  }
}

/// What something was done to: its kind, and its number or name, which is none of a person.
package struct AuditObject: Sendable, Hashable {
  /// The kind, such as `user`.
  package let kind: String
  /// The number, or the name of what has none.
  package let id: String
  /// Whose it is: of a notification its sender, of a user itself; nil if it is nobody's.
  package let owner: UserID?

  private init(_ kind: String, _ id: String, of owner: UserID? = nil) {
    (self.kind, self.id, self.owner) = (kind, id, owner)
  }

  /// A user, by number.
  package static func user(_ user: UserID) -> Self {
    Self("user", String(user.rawValue), of: user)
  }

  static func session(_ id: Int, of user: UserID) -> Self {
    Self("session", String(id), of: user)
  }
  static func device(_ registration: String, of user: UserID) -> Self {
    Self("device", registration, of: user)
  }
  static func pairing(_ id: Int, of user: UserID) -> Self {
    Self("pairing", String(id), of: user)
  }
  static func token(_ id: Int, of user: UserID) -> Self { Self("token", String(id), of: user) }
  static func webhook(_ id: Int, of user: UserID) -> Self {
    Self("webhook", String(id), of: user)
  }
  static func key(_ id: Int) -> Self { Self("key", String(id)) }
  static func notification(_ id: Int, of sender: UserID?) -> Self {
    Self("notification", String(id), of: sender)
  }
  static func asset(_ richType: String, _ name: String) -> Self {
    Self("asset", "\(richType)/\(name)")
  }
  static func segment(_ name: String) -> Self { Self("segment", name) }
  static func push(_ job: Int) -> Self { Self("push", String(job)) }
  static func service(_ lane: String) -> Self { Self("service", lane) }
  /// A setting of the server, by its name.
  package static func setting(_ name: String) -> Self { Self("setting", name) }

  /// What a row has.
  static func stored(_ kind: String, _ id: String, of owner: UserID?) -> Self {
    Self(kind, id, of: owner)
  }

  /// The user whom it is, if it is one.
  package var user: UserID? { kind == "user" ? Int(id).map(UserID.init) : nil }
}

/// What somebody did, without any content.
package struct AuditEvent: Sendable, Hashable {
  /// When.
  package let time: Date
  /// Who.
  package let actor: AuditActor
  /// What, a code of ``AuditAction`` or of a later version.
  package let action: String
  /// To what.
  package let object: AuditObject?
  /// A word about how: the new role, for instance.
  package let detail: String?
  /// The part of the log in which it is.
  let share: AuditShare
  /// How often since then, within a minute, or how many people or things it concerns.
  package let count: Int
}

/// Something that was done that changes no record.
package struct AuditChange: Sendable {
  let action: AuditAction
  let object: AuditObject?
  let detail: String?

  /// Describes it.
  package init(_ action: AuditAction, _ object: AuditObject? = nil, detail: String? = nil) {
    (self.action, self.object, self.detail) = (action, object, detail)
  }
}

/// An entry of the audit log.
package struct AuditEntry: Sendable, Equatable {
  /// Rises with time; numbers may be missing.
  package let number: Int
  /// What happened.
  package let event: AuditEvent
}

/// Which entries are listed: all unless it says more.
package struct AuditFilter: Sendable {
  /// What this user has done, and what was done to the user, or to something of the user's.
  package var user: UserID?
  /// What the actions begin with.
  package var action: String?
  /// Entries of this time and later ones.
  package var since: Date?
  /// Entries before this time.
  package var until: Date?

  /// All entries; the members can be set afterwards.
  package init() {}
}

/// Who did what.
///
/// A change adds its entry in its own transaction; here is what does more than that.
package protocol AuditLog: Sendable {
  /// Entries before a number, the newest first.
  func auditEntries(
    _ filter: AuditFilter, before number: Int?, limit: Int
  ) async throws -> [AuditEntry]
  /// Adds entries about what changes no record.
  func addAuditEntries(_ changes: [AuditChange]) async throws
  /// Counts a wrong password, of a user if the name is one's: about one entry a minute for each address and user.
  func addFailedSignIn(of user: UserID?, from address: String) async throws
}
