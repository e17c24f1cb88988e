package import FoundationEssentials

/// A user in a list for administrators.
package struct UserSummary: Sendable, Equatable {
  /// The user's number.
  package let id: UserID
  /// The name.
  package let name: String
  /// What the user may do.
  package let role: Role
  /// Whether the user has no password, as in demo mode.
  package let isPasswordless: Bool
  /// When the user was added.
  package let created: Date
  /// The number of registered devices.
  package let devices: Int
  /// When a device of the user last registered, or nil.
  package let lastSeen: Date?
  /// How many devices the user may have.
  package let maxDevices: Int
}

/// The queued jobs of a lane.
package struct LaneQueue: Sendable, Equatable {
  /// The name of the lane.
  package let lane: String
  /// The number of queued jobs.
  package let queued: Int
  /// When the notification of the one that waits longest became due; nil if none is: the jobs are scheduled, or belong to
  /// none.
  package let oldest: Date?
  /// Why the next one was not sent before, or nil.
  package let reason: String?
}

/// How many users there are, and notifications that are still to be sent.
package struct RecordCounts: Sendable, Equatable {
  /// The users by role.
  package let users: [Role: Int]
  /// The notifications whose time has not come.
  package let scheduled: Int
  /// The notifications that await approval.
  package let awaitingApproval: Int
}

/// What administrators see and change besides what owners of the data folder can.
package protocol Administration: Sendable {
  /// Users by name, after a name, at most `limit`; those without a password only if they are included.
  func users(after name: String, includingPasswordless: Bool, limit: Int) async throws
    -> [UserSummary]
  /// Adds a user with this password hash, or changes the role and, unless nil, the password hash and how many
  /// devices the user may have; returns whether the user is new.
  ///
  /// Another password ends the user's sessions and the tokens of its devices; the registrations, too, only if
  /// asked to. What a user has scheduled who may not publish any more is held. Throws `missing` if a new user
  /// has no hash, `conflict` if no admin would be left.
  func putUser(
    _ name: String, role: Role, hash: String?, endingRegistrations: Bool, maxDevices: Int?
  ) async throws -> Bool
  /// Removes a user; false if there is none. Throws `conflict` if no admin would be left.
  func removeUserUnlessLastAdmin(_ name: String) async throws -> Bool
  /// Ends the user's sessions, access tokens, the tokens of its devices and, if asked to, the registrations; false if
  /// there is no such user.
  func endCredentials(of user: UserID, endingRegistrations: Bool) async throws -> Bool

  /// Jobs in a state and a lane, or in any, newest first, with numbers below `before`, at most `limit`.
  func jobs(in state: JobState?, lane: String?, before: Int?, limit: Int) async throws
    -> [JobRecord]
  /// Queues the dead letters of a lane, or all, again with no attempts, and returns how many.
  func replay(lane: String?) async throws -> Int
  /// The lanes with queued jobs, by name.
  func laneQueues() async throws -> [LaneQueue]

  /// The registrations whose devices have neither registered, shown their token, fetched nor read anything since a
  /// time, with the names of their users, by id, after an id, at most `limit`.
  ///
  /// The cost grows with all registrations and receipts.
  func silentRegistrations(since time: Date, after id: String, limit: Int) async throws
    -> [(user: String, registration: DeviceRegistration)]
  /// Ends those registrations, and returns their number.
  func endSilentRegistrations(since time: Date) async throws -> Int

  /// How many users there are, those without a password only if they are included, and notifications that are still to
  /// be sent; the cost grows with both.
  func recordCounts(includingPasswordless: Bool) async throws -> RecordCounts

  /// The bytes of all content to which notifications and assets refer.
  func contentSize() async throws -> Int
}

extension Administration {
  /// Adds or changes a user; the registrations stay.
  package func putUser(_ name: String, role: Role, hash: String?) async throws -> Bool {
    try await putUser(
      name, role: role, hash: hash, endingRegistrations: false, maxDevices: nil)
  }

  /// Ends the user's sessions, access tokens and the tokens of its devices; the registrations stay.
  package func endCredentials(of user: UserID) async throws -> Bool {
    try await endCredentials(of: user, endingRegistrations: false)
  }
}
