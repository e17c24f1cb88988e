package import FoundationEssentials

/// What a user may do.
package enum Role: String, Sendable, CaseIterable {
  /// Receives its own notifications.
  case device
  /// Creates notifications for others and uploads assets.
  case publisher
  /// May do everything.
  case admin
}

/// A user who can sign in.
package struct User: Sendable, Equatable {
  /// The number.
  package let id: UserID
  /// The name, unique among the users there are.
  package let name: String
  /// The password's hash as crypt(3) writes it, or ``noPassword``.
  package let hash: String
  /// What the user may do.
  package let role: Role
  /// When the user was added.
  package let created: Date

  /// Whether the user can have one, or signs in at a provider only.
  package var hasPassword: Bool { hash != Self.noPassword }

  /// In place of the hash of a user who signs in at a provider only; no password has it.
  package static let noPassword = "*"
}

/// Matches registrations that have every tag of `with` and none of `without`.
package struct TagClause: Sendable, Hashable {
  /// The tags a registration must have.
  package let with: [String]
  /// The tags it must not have.
  package let without: [String]

  /// Matches registrations by their tags.
  package init(with: [String], without: [String] = []) {
    self.with = with
    self.without = without
  }
}

/// A device that sent its token.
package struct TokenDevice: Sendable, Hashable {
  /// The id of its registration.
  package let registration: String
  /// The user it belongs to.
  package let user: UserID
  /// The user's name.
  package let name: String
  /// What `Notifications.isFetchRecorded` tells of the notification that was asked for.
  package let isFetchRecorded: Bool?
}

/// A secret that signs links to media, which need no password.
package struct LinkKey: Sendable, Equatable {
  /// Links name the key by it; the newest has the highest.
  package let id: Int
  /// 64 hexadecimal digits.
  package let secret: String
  /// When it was created.
  package let created: Date
}

/// Users, their devices, and the keys that sign links.
package protocol Accounts: Sendable {
  // MARK: Users

  /// Adds a user, who may have `maxDevices` devices, or the usual number; throws `conflict` if the name is taken.
  ///
  /// Removes a passwordless user of that name first.
  func addUser(_ name: String, hash: String, role: Role, maxDevices: Int?) async throws
  /// Replaces a user's password hash and ends the user's sessions and the tokens of its devices and, if asked
  /// to, the registrations; false if there is no such user.
  func setPassword(
    of name: String, hash: String, endingRegistrations: Bool
  ) async throws -> Bool
  /// Replaces a user's own password hash, and ends what a new password ends; begins the new session, if one is given.
  ///
  /// False, and nothing is changed, if `old` is not the user's hash any more, or the session that asks for it has ended:
  /// what an administrator has done meanwhile stays.
  func changePassword(
    of user: UserID, from old: String, to hash: String, renewing session: SessionRenewal?
  ) async throws -> Bool
  /// Sets how many devices a user may have; false if there is no such user. Those there are stay.
  func setMaxDevices(of name: String, to number: Int) async throws -> Bool
  /// How many devices a user may have.
  func maxDevices(of user: UserID) async throws -> Int
  /// Removes a user with everything that belongs to it; false if there is no such user.
  ///
  /// The receipts of the user's notifications stay, without a name, because publishers have counted them. What
  /// the user has scheduled is held.
  func removeUser(_ name: String) async throws -> Bool
  /// The user of that name, or nil.
  func user(named name: String) async throws -> User?
  /// All users by name, without passwordless ones.
  func users() async throws -> [User]
  /// The names of users from `first` to below `end`, in the order of their bytes, at most `limit`.
  func userNames(
    from first: String, below end: String, includingPasswordless: Bool, limit: Int
  ) async throws -> [String]
  /// The names of users by their numbers; who was removed is left out.
  func names(of users: [UserID]) async throws -> [UserID: String]
  /// What is known of a user, by name.
  func attributes(of user: UserID) async throws -> [String: String]
  /// What is known of users, who are given by name, of those that exist.
  func attributes(named names: [String]) async throws -> [String: [String: String]]
  /// Replaces what is known of users, who are given by name, all of it or nothing; returns the names of those that
  /// exist.
  func setAttributes(_ attributes: [String: [String: String]]) async throws -> Set<String>
  /// Some attributes of users, whose numbers are in ascending order; the cost grows with the users.
  func attributes(_ names: [String], of users: [UserID]) async throws -> RecipientValues
  /// Whether a user with this number, passwordless or not, exists.
  func isUser(_ id: UserID) async throws -> Bool

  // MARK: Users without a password

  // In demo mode, any name may sign in; its data belongs to a user without a password.

  /// The numbers of the users of these names.
  ///
  /// A name without a user is left out or, with `addingPasswordless`, gets a passwordless user.
  func userIDs(
    of names: Set<String>, allowingPasswordless: Bool, addingPasswordless: Bool
  ) async throws -> [String: UserID]
  /// Removes all passwordless users soon: outside demo mode a new user must not get what was sent to a
  /// passwordless one of the same name.
  func removePasswordlessUsers()

  // MARK: Devices

  /// The id of the user's registration with this handle; adds one if there is none.
  ///
  /// If the handle is another user's, the id is a new one, of no registration yet. Throws `conflict` if the user
  /// can't have one more device.
  func registration(
    forHandle handle: String, user: UserID, origin: RegistrationOrigin
  ) async throws -> String
  /// Inserts or replaces a registration.
  ///
  /// A handle belongs to one device at a time: the user's other registration with it is removed, and another
  /// user's if it is of the same platform, which is an event of that user. Unsent pushes move to the lane. Throws
  /// `conflict` if the user can't have one more device, or one more Web Push service, and `exhausted` if it has ended
  /// too many registrations of others within the hour.
  func putRegistration(
    _ id: String, user: UserID, _ change: RegistrationChange
  ) async throws -> RegistrationResult
  /// Changes settings of the user's registration, and returns it; nil if the user has none with this id.
  ///
  /// What waits for the end of its quiet hours is looked at again.
  func changeSettings(
    of id: String, user: UserID, _ change: @escaping @Sendable (inout DeviceSettings) -> Void
  ) async throws -> DeviceRegistration?
  /// Removes a registration; false if there is none with this id, of this user if one is given.
  func removeRegistration(_ id: String, user: UserID?) async throws -> Bool
  /// The user's registrations by id, after an id, at most `limit`.
  func registrations(
    ofUser user: UserID, after id: String, limit: Int
  ) async throws -> [DeviceRegistration]
  /// The devices that match at least one of the clauses, each once, by registration id.
  ///
  /// The cost of a clause grows with the devices that have the rarest of its `with` tags, or with all
  /// devices if there is none.
  func devices(matching clauses: [TagClause]) async throws -> AudienceDevices
  /// The numbers of the users of these names, and the devices that match at least one of the clauses, with their time
  /// zones if they are wanted.
  func audience(
    named names: Set<String>, allowingPasswordless: Bool, matching clauses: [TagClause],
    withZones: Bool
  ) async throws -> (users: [String: UserID], devices: AudienceDevices)
  /// The number of devices by platform; the cost grows with the devices.
  func deviceCounts() async throws -> [String: Int]
  /// The first tag of a device from `first` to below `end`, in the order of their bytes, or nil.
  func tag(from first: String, below end: String) async throws -> String?

  // MARK: Tokens of devices

  /// Adds a token to the user's registration; false if the user has none with this id.
  ///
  /// A registration keeps its two newest tokens.
  func addToken(_ hash: Digest, to registration: String, user: UserID) async throws -> Bool
  /// Whose token has this hash, or nil; and with a notification, by the same read, whether the device's fetch of
  /// it is recorded.
  func device(withToken hash: Digest, fetching notification: Int?) async throws -> TokenDevice?
  /// Removes the tokens of a registration; false if there is none with this id, of this user if one is given.
  func removeTokens(of registration: String, user: UserID?) async throws -> Bool

  // MARK: Keys

  /// The valid keys that sign links, newest first; there is always one.
  func linkKeys() async throws -> [LinkKey]
  /// Adds a key, which signs new links from now on, and returns its id; older ones stay valid.
  func addLinkKey() async throws -> Int
  /// Revokes every link the key signed; false if it is the newest key, or there is no such key.
  func removeLinkKey(_ id: Int) async throws -> Bool
  /// The secret of the key by which Web Push services recognize this server: 64 hexadecimal digits.
  ///
  /// It never changes, because browsers bind their subscriptions to it.
  func vapidSecret() async throws -> String
}

extension Accounts {
  /// The id of the user's registration with this handle; adds one, of unknown origin, if there is none.
  package func registration(forHandle handle: String, user: UserID) async throws -> String {
    try await registration(forHandle: handle, user: user, origin: RegistrationOrigin())
  }

  /// Replaces a user's password hash; the registrations stay.
  package func setPassword(of name: String, hash: String) async throws -> Bool {
    try await setPassword(of: name, hash: hash, endingRegistrations: false)
  }

  /// All registrations of the user, by id.
  package func registrations(ofUser user: UserID) async throws -> [DeviceRegistration] {
    try await registrations(ofUser: user, after: "", limit: .max)
  }

  /// Adds a user who may have as many devices as any other.
  package func addUser(_ name: String, hash: String, role: Role) async throws {
    try await addUser(name, hash: hash, role: role, maxDevices: nil)
  }

  /// Whose token has this hash, or nil.
  package func device(withToken hash: Digest) async throws -> TokenDevice? {
    try await device(withToken: hash, fetching: nil)
  }
}

extension LinkKey {
  /// 32 bytes of the system's randomness, in hexadecimal.
  static func newSecret() -> String {
    (0..<4).map { _ in
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

extension Accounts {
  /// The number of the user of that name, or nil.
  package func userID(of name: String, allowingPasswordless: Bool) async throws -> UserID? {
    try await userIDs(
      of: [name], allowingPasswordless: allowingPasswordless, addingPasswordless: false)[name]
  }

  /// The numbers of the users of these names; with `allowingPasswordless`, one without a user gets one.
  package func userIDs(
    of names: Set<String>, allowingPasswordless: Bool
  ) async throws -> [String: UserID] {
    try await userIDs(
      of: names, allowingPasswordless: allowingPasswordless,
      addingPasswordless: allowingPasswordless)
  }
}
