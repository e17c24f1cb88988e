package import FoundationEssentials

/// A code by which one device of a user gets a token, without a password.
///
/// The store keeps the hash of the code, and that of a short one that people can type.
package struct Pairing: Sendable, Equatable {
  /// The number, by which it can be revoked.
  package let id: Int
  /// When it was made.
  package let created: Date
  /// When its code ends, if it is not used.
  package let expires: Date

  /// How long a code lasts, in seconds.
  package static let lifetime: TimeInterval = 15 * 60
  /// How long a code that has ended is kept, so that it can be told from one that never existed, in seconds.
  static let endedAge: TimeInterval = 86_400
}

/// A device that a user adds by a code, or that has signed up; how pushes reach it can be registered later.
package struct NewDevice: Sendable {
  /// The id of its registration; an earlier one of the user with this id is replaced.
  package var registration: String
  /// The hash of its token.
  package var token: Digest
  /// What it calls itself; nil leaves the name as it is.
  package var name: String?
  /// The language that it prefers (BCP 47); nil leaves it as it is.
  package var language: String?
  /// The time zone that it is in; nil leaves it as it is.
  package var timeZone: String?
  /// Kept with a new registration.
  package var origin = RegistrationOrigin()

  /// A device; the other members can be set afterwards.
  package init(registration: String, token: Digest) {
    (self.registration, self.token) = (registration, token)
  }
}

/// What became of a code.
package enum PairingResult: Sendable, Equatable {
  /// The device is the user's.
  case paired(user: UserID, name: String)
  /// There is no such code, or there was none within the last day.
  case unknown
  /// It was used or revoked, or it has expired.
  case ended
  /// The registration's id is another user's; the code can still be used.
  case notOwn
}

/// What became of a code that was to be replaced by another.
package enum ForwardedPairing: Sendable, Equatable {
  /// The new one.
  case forwarded(Pairing)
  /// There is no such code, or there was none within the last day.
  case unknown
  /// It was used or revoked, or it has expired.
  case ended
}

/// Codes by which devices get their tokens.
///
/// All codes of a user end when the user gets a new password or is removed, and when the user's credentials are ended.
package protocol Pairings: Sendable {
  /// Adds a code to a user; nil if there is no such user. Throws `conflict` if the user has too many open ones.
  func addPairing(_ code: Digest, short: Digest, of user: UserID) async throws -> Pairing?
  /// The user's open codes, the newest first.
  func pairings(of user: UserID) async throws -> [Pairing]
  /// Revokes an open code; false if there is none with this number, of this user if one is given.
  func endPairing(_ id: Int, user: UserID?) async throws -> Bool
  /// Uses a code for a device, which then has a registration without a platform, and a token.
  ///
  /// Of several callers at once one succeeds. Throws `conflict` if the user can't have one more device; the code can
  /// then still be used.
  func redeemPairing(_ code: Digest, for device: NewDevice) async throws -> PairingResult
  /// Ends a code, and adds another to the same user; of several callers at once one succeeds.
  func forwardPairing(_ code: Digest, to next: Digest) async throws -> ForwardedPairing
}
