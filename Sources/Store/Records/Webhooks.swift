package import FoundationEssentials

/// The address to which a program posts events, which become a publisher's notifications by a template: an access token
/// that counts only there.
package struct StoredWebhook: Sendable, Equatable {
  /// Its token: number, name, recipients and last use.
  package let token: StoredAccessToken
  /// The hash of its token.
  package let hash: Digest
  /// What makes notifications of events, as JSON text.
  package let template: String
  /// The secret with which its sender signs; nil if it need not.
  package let secret: String?
  /// How many failed deliveries are kept.
  package let failed: Int
}

/// What was posted to a webhook.
package struct WebhookPost: Sendable, Equatable {
  /// The fields of its head that the template names, by their names.
  package let fields: [String: String]
  /// Its body; nil if it is not kept.
  package let body: String?

  /// Describes a post.
  package init(fields: [String: String], body: String?) {
    (self.fields, self.body) = (fields, body)
  }
}

/// A delivery to a webhook that became no notification.
package struct FailedDelivery: Sendable, Equatable {
  /// The number, by which it can be replayed.
  package let id: Int
  /// What was posted.
  package let post: WebhookPost
  /// Why it failed, a sentence.
  package let reason: String
  /// When it failed last.
  package let failed: Date

  /// How long one is kept, in seconds.
  static let age: TimeInterval = 30 * 86_400
}

/// Webhooks of publishers.
///
/// One ends as an access token does, and is removed as one.
package protocol Webhooks: Sendable {
  /// Adds a webhook of this name; nil if there is no such user.
  ///
  /// Throws `conflict` if the user has a webhook or an access token of that name, or too many.
  func addWebhook(
    _ hash: Digest, _ name: String, _ scope: AccessTokenScope, template: String, secret: String?,
    of user: UserID
  ) async throws -> StoredWebhook?
  /// The webhooks of a user, or of all, also those that have expired lately, newest first.
  func webhooks(of user: UserID?) async throws -> [StoredWebhook]
  /// The webhook with this number; nil if there is none, of this user if one is given.
  func webhook(_ id: Int, of user: UserID?) async throws -> StoredWebhook?
  /// Keeps a delivery that failed now, or the reason if it is kept already; the oldest go if there are too many.
  func keep(_ post: WebhookPost, _ digest: Digest, reason: String, of webhook: Int) async throws
  /// Removes soon a delivery with this digest, which has not failed any more.
  func removeDelivery(_ digest: Digest, of webhook: Int)
  /// The failed deliveries of a webhook that are kept, newest first, without bodies.
  func failedDeliveries(of webhook: Int) async throws -> [FailedDelivery]
  /// A failed delivery of a webhook; nil if there is none with this number.
  func failedDelivery(_ id: Int, of webhook: Int) async throws -> FailedDelivery?
}
