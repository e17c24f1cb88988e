package import FoundationEssentials

/// Somebody who adds a user for oneself, with a device.
package struct NewSignUp: Sendable {
  /// The user's name, which nobody has yet.
  package var user: String
  /// The hash of a password that nobody knows.
  package var hash: String
  /// The tags of the subjects that the user wants.
  package var subjects: [String]
  /// Whether the subjects begin only when an admin has approved.
  package var isWaiting: Bool
  /// The device.
  package var device: NewDevice
  /// How pushes reach it, if that is known; its tags are not looked at.
  package var change: RegistrationChange?

  /// A sign-up; ``change`` can be set afterwards.
  package init(
    user: String, hash: String, subjects: [String], isWaiting: Bool, device: NewDevice
  ) {
    (self.user, self.hash, self.subjects) = (user, hash, subjects)
    (self.isWaiting, self.device) = (isWaiting, device)
  }
}

/// What became of a sign-up.
package enum SignUpResult: Sendable, Equatable {
  /// The user was added; a registration with the device's handle of another user was ended, if there was one.
  case added(endedOf: FormerOwner?)
  /// Another user has the name.
  case nameTaken
  /// A registration of another user and another platform has the device's handle, or its id.
  case deviceTaken
}

/// Somebody who waits for approval.
package struct WaitingSignUp: Sendable, Equatable {
  /// The user's number.
  package let id: UserID
  /// The user's name.
  package let user: String
  /// What the device calls itself, or nil.
  package let name: String?
  /// The tags of the subjects that are wanted.
  package let subjects: [String]
  /// When.
  package let created: Date
}

/// Users who have added themselves; nobody knows a password of theirs, and their subjects are all they may get.
///
/// One who gets a password is a user like any other from then on. One whose last device is gone is removed by
/// `Store.collect`.
package protocol SignUps: Sendable {
  /// Adds a user with the role `device`, a registration, and a token. Throws `exhausted` if too many wait already.
  func signUp(_ new: NewSignUp) async throws -> SignUpResult
  /// Those who wait, the longest first, after a number, at most `limit`.
  func signUps(after user: UserID?, limit: Int) async throws -> [WaitingSignUp]
  /// Gives a user who waits the wanted subjects; false if no such user waits.
  func approveSignUp(of name: String) async throws -> Bool
  /// Removes a user who waits; false if no such user waits.
  func refuseSignUp(of name: String) async throws -> Bool
  /// Whether a user who has added itself waits; nil for every other user.
  func isWaiting(_ user: UserID) async throws -> Bool?
}
