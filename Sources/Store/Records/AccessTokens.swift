package import FoundationEssentials

/// What an access token allows.
package struct AccessTokenScope: Sendable, Hashable {
  /// To whom its notifications may be sent, as their `to`: tags, or one tag expression; nil for everybody.
  package var to: [String]?
  /// Whether it may read who has got, fetched, read and answered its user's notifications.
  package var readsReceipts = false
  /// Whether it may list, upload, change and remove assets.
  package var uploadsAssets = false
  /// Whether it may read how the server is.
  package var readsStatus = false
  /// Whether it may read the audit log.
  package var readsAudit = false
  /// The most notifications a minute, or nil for as many as its user may send.
  package var rate: Int?
  /// When it ends, or nil.
  package var expires: Date?
  /// Whether it is the address of a webhook, and counts for nothing else.
  package internal(set) var isWebhook = false

  /// Whether it is an admin's for reading: it counts for nothing else, and no notification is sent with it.
  package var isForReading: Bool { readsStatus || readsAudit }

  /// Allows notifications for everybody; the members can be set afterwards.
  package init() {}
}

/// A token with which a program may do some of what a publisher may.
package struct StoredAccessToken: Sendable, Equatable {
  /// The number, by which it can be removed.
  package let id: Int
  /// What its user calls it; no other token of the user has that name.
  package let name: String
  /// What it allows.
  package let scope: AccessTokenScope
  /// When it was made.
  package let created: Date
  /// When it was last used, to a minute for each node; nil if it never was.
  package let used: Date?
  /// The address from which it was used then.
  package let address: String?
  /// The user's name.
  package let user: String

  /// How long one that has expired is kept, so that its user sees why it does not count any more, in seconds.
  static let expiredAge: TimeInterval = 30 * 86_400
}

/// The user of an access token that counts.
package struct AccessTokenOwner: Sendable, Equatable {
  /// The token's number.
  package let token: Int
  /// What it allows.
  package let scope: AccessTokenScope
  /// The user.
  package let user: UserID
  /// The user's name.
  package let name: String
  /// What the user may do.
  package let role: Role
  /// Whether the user has no password, as in demo mode.
  package let isPasswordless: Bool
}

/// Tokens of publishers; the store keeps their hashes.
///
/// A token ends when it is removed or expires, when the credentials of its user are ended, and when the user is
/// removed. A new password leaves it.
package protocol AccessTokens: Sendable {
  /// Adds a token of this name; nil if there is no such user.
  ///
  /// Throws `conflict` if the user has one of that name, webhooks among them, or too many.
  func addAccessToken(
    _ hash: Digest, _ name: String, _ scope: AccessTokenScope, of user: UserID
  ) async throws -> StoredAccessToken?
  /// Whose token has this hash; nil if there is none, or it has expired.
  func owner(ofAccessToken hash: Digest) async throws -> AccessTokenOwner?
  /// The tokens of a user, or of all, also those that have expired lately, newest first; without those of webhooks.
  func accessTokens(of user: UserID?) async throws -> [StoredAccessToken]
  /// Tokens that end soon or have ended lately, the first to end first, at most `limit`, with those of webhooks.
  ///
  /// Their end is at most `notice` seconds before or after `time`, and at most 1/`share` of their lifetime.
  func accessTokens(
    endingNear time: Date, notice: TimeInterval, share: Int, limit: Int
  ) async throws -> [StoredAccessToken]
  /// Removes a token; false if there is none with this number, of this user if one is given, and that of a webhook only
  /// if `isWebhook`.
  func removeAccessToken(_ id: Int, of user: UserID?, isWebhook: Bool) async throws -> Bool
  /// Stores soon that a token was used now from this address.
  func recordUse(ofAccessToken id: Int, from address: String)
}

extension AccessTokens {
  /// Removes a token that is no webhook's; false if there is none with this number, of this user if one is given.
  package func removeAccessToken(_ id: Int, of user: UserID?) async throws -> Bool {
    try await removeAccessToken(id, of: user, isWebhook: false)
  }
}
