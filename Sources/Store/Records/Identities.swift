import FoundationEssentials

/// A user as a provider of OpenID Connect knows it; both names never change.
package struct Identity: Sendable, Hashable {
  /// The provider.
  package let issuer: String
  /// The provider's name of the user.
  package let subject: String

  /// The user of a provider.
  package init(issuer: String, subject: String) {
    (self.issuer, self.subject) = (issuer, subject)
  }
}

/// Somebody who has signed in at a provider.
package struct ProviderSignIn: Sendable {
  /// What begins by it.
  package enum Beginning: Sendable {
    /// A session with a token of this hash.
    case session(Digest, userAgent: String)
    /// An open pairing with a code of this hash.
    case pairing(Digest)
  }

  /// The sign-in, which counts once.
  package var attempt: Digest
  /// The user.
  package var identity: Identity
  /// The name of the user that is made if nobody is linked with the identity; nil to make none.
  package var newName: String?
  /// What the user may do from now on; nil leaves it as it is, which is `device` for a new user.
  package var role: Role?
  /// The name of the user who stays an admin, whatever the new role; nil for none.
  package var keptAdmin: String?
  /// What begins.
  package var beginning: Beginning
  /// The provider's name of the session, by which it ends it.
  package var session: String?
  /// The provider's token, by which the session is ended there.
  package var token: String?

  /// A sign-in; everything else can be set afterwards.
  package init(_ attempt: Digest, of identity: Identity, beginning: Beginning) {
    (self.attempt, self.identity, self.beginning) = (attempt, identity, beginning)
  }

  /// How long a sign-in is remembered that has counted, in seconds; none takes so long.
  static let memory: TimeInterval = 3600
}

/// What became of a sign-in at a provider.
package enum ProviderSignInResult: Sendable, Equatable {
  /// The session or pairing has begun; `isNew` if the user was made for it.
  case signedIn(UserID, name: String, isNew: Bool)
  /// The sign-in has counted before.
  case used
  /// No user is linked with the identity, and none is to be made.
  case unknown
  /// Another user has the name, or one that differs from it in upper and lower case only.
  case nameTaken(String)
}

/// Users' links with what a provider of OpenID Connect calls them, and the sessions that began there.
package protocol Identities: Sendable {
  /// Begins a session or a pairing of the user who is linked with an identity, all of it or nothing.
  ///
  /// A user whose role becomes less has what is scheduled held. Throws `conflict` if the user has too many open pairings.
  func signIn(_ new: ProviderSignIn) async throws -> ProviderSignInResult
  /// Links a user with an identity; false if there is no such user.
  ///
  /// Throws `conflict` if the identity is another user's, or the user has another one of the same provider.
  func link(_ name: String, with identity: Identity) async throws -> Bool
  /// Ends a user's links, and the sessions that began by them; false if the user has none.
  func unlink(_ name: String) async throws -> Bool
  /// The identities of those of these users who have any.
  func identities(of users: [UserID]) async throws -> [UserID: [Identity]]
  /// The provider's token of a session that began there: nil for every other session, empty if it was not kept.
  func providerToken(ofSession id: Int) async throws -> String?
  /// Ends the sessions that a provider has ended, those of a user or one, and returns how many there were.
  func endSessions(
    at issuer: String, subject: String?, session: String?
  ) async throws -> Int
}
