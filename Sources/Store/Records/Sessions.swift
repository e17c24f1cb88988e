package import FoundationEssentials

/// A user's sign-in on a web page.
package struct Session: Sendable, Equatable {
  /// The number, by which its user can end it.
  package let id: Int
  /// When the user signed in.
  package let created: Date
  /// When it was last used, to a few minutes.
  package let used: Date
  /// What the browser calls itself.
  package let userAgent: String

  /// How long a session lasts, in seconds.
  package static let lifetime: TimeInterval = 12 * 3600
  /// The most sessions of one user.
  package static let most = 20
  /// Changes of `used` that are smaller are not written, in seconds.
  static let usePrecision = 300.0
}

/// The user of a session.
package struct SessionUser: Sendable, Hashable {
  /// The session's number.
  package let session: Int
  /// When the session ends.
  package let expires: Date
  /// The user.
  package let id: UserID
  /// The user's name.
  package let name: String
  /// What the user may do.
  package let role: Role
  /// Whether the user has no password, as in demo mode.
  package let isPasswordless: Bool
}

/// The session that takes the place of another, whose page goes on.
package struct SessionRenewal: Sendable {
  /// The hash of the token of the session that ends.
  package let current: Digest
  /// The hash of the next token.
  package let next: Digest
  package let userAgent: String

  package init(current: Digest, next: Digest, userAgent: String) {
    (self.current, self.next, self.userAgent) = (current, next, userAgent)
  }
}

/// Sign-ins on web pages; the store keeps the hashes of their tokens.
///
/// A session ends after ``Session/lifetime``, and when its user is removed or gets a new password.
package protocol Sessions: Sendable {
  /// Adds a session; false if there is no such user.
  ///
  /// A user has at most ``Session/most``; the oldest end.
  func addSession(_ hash: Digest, user: UserID, userAgent: String) async throws -> Bool
  /// Whose session has a token with this hash; nil if there is none, or it has ended.
  func sessionUser(withToken hash: Digest) async throws -> SessionUser?
  /// The user's sessions, newest first.
  func sessions(of user: UserID) async throws -> [Session]
  /// Ends a session; false if the user has none with this number.
  func removeSession(_ id: Int, user: UserID) async throws -> Bool
}
