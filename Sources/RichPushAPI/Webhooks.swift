#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A webhook to be made, an address to which a program posts events: the body of `POST /api/webhooks`.
public struct NewWebhook: Sendable, Equatable {
  /// What it is called, in letters, digits and `-_.@`; no other webhook or access token of the user may have that name.
  public var name: String
  /// What makes notifications of events: the name of a template of the server, such as `alertmanager`, or a template.
  public var template: JSONValue
  /// To whom its notifications are sent.
  public var audience: NewNotification.Audience
  /// The secret with which its sender signs each event (`X-Hub-Signature-256`); nil if it need not.
  public var signingSecret: String?
  /// The most notifications a minute; nil for as many as its user may send.
  public var rate: Int?
  /// When it ends, if ever.
  public var expires: Date?
  /// The user whose it is; nil for the caller.
  public var user: String?

  /// Describes a webhook; the other members can be set afterwards.
  ///
  /// ```swift
  /// var new = NewWebhook("alerts", template: .string("alertmanager"), to: .anyTag(["operators"]))
  /// new.rate = 60
  /// ```
  public init(_ name: String, template: JSONValue, to audience: NewNotification.Audience) {
    (self.name, self.template, self.audience) = (name, template, audience)
  }
}

extension NewWebhook: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case name, template
    case audience = "to"
    case signingSecret, rate, expires, user
  }

  /// Decodes the body.
  ///
  /// - Throws: a `ServiceError` with a fault for each member that is missing or has the wrong type.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    name = reader.require(.name) ?? ""
    template = reader.readValue(.template) ?? .null
    // Adds that it is missing.
    if template == .null { _ = reader.require(.template, as: Bool.self) }
    audience = reader.require(.audience) ?? .anyTag([])
    signingSecret = reader.read(.signingSecret)
    (rate, expires, user) = (reader.read(.rate), reader.read(.expires), reader.read(.user))
    try reader.throwFaults()
  }
}

extension NewWebhook: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

extension NewWebhook {
  /// The access token that its address has.
  package var token: NewAccessToken {
    var token = NewAccessToken(name, to: audience, expires: expires)
    token.rate = rate
    return token
  }
}

/// The webhooks of a user, without their addresses: the response of `GET /api/webhooks`.
public struct WebhookList: Sendable, Equatable, Codable {
  /// Whether the server receives what is posted to them.
  public let isServed: Bool
  /// The webhooks, the newest first; one that has expired is among them for 30 days.
  public let webhooks: [Webhook]

  /// Creates a list.
  package init(isServed: Bool, webhooks: [Webhook]) {
    (self.isServed, self.webhooks) = (isServed, webhooks)
  }

  /// A webhook.
  public struct Webhook: Sendable, Equatable, Codable {
    /// Its number, by which it can be removed.
    public let id: Int
    /// What it is called.
    public let name: String
    /// The user whose it is.
    public let user: String
    /// The name of its template, or the template.
    public var template = JSONValue.null
    /// To whom its notifications are sent: tags, or one tag expression.
    public var to: [String] = []
    /// Whether its sender has to sign.
    public var isSigned = false
    /// The most notifications a minute; nil for as many as its user may send.
    @Nullable public var rate: Int?
    /// When it was made.
    public let created: Date
    /// When it ends, if ever.
    @Nullable public var expires: Date?
    /// When something was last posted to it, to a minute; nil if nothing ever was.
    @Nullable public var used: Date?
    /// The address from which it was posted then.
    @Nullable public var address: String?
    /// How many deliveries have failed and are kept.
    public var failed = 0

    /// Describes a webhook; the other members can be set afterwards.
    package init(id: Int, name: String, user: String, created: Date) {
      (self.id, self.name, self.user, self.created) = (id, name, user, created)
    }
  }
}

/// A webhook with its address, which is shown once: the response of `POST /api/webhooks`.
public struct IssuedWebhook: Sendable, Equatable {
  /// Where its sender posts, behind the server's address: a secret path.
  public let path: String
  /// What it is.
  public let webhook: WebhookList.Webhook

  /// Describes a webhook.
  package init(_ path: String, _ webhook: WebhookList.Webhook) {
    (self.path, self.webhook) = (path, webhook)
  }
}

extension IssuedWebhook: Codable {
  private enum CodingKeys: String, CodingKey { case path }

  /// Decodes the members of the webhook, and its path.
  public init(from decoder: any Decoder) throws {
    path = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .path)
    webhook = try WebhookList.Webhook(from: decoder)
  }

  /// Encodes the members of the webhook, and its path.
  public func encode(to encoder: any Encoder) throws {
    try webhook.encode(to: encoder)
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(path, forKey: .path)
  }
}

/// The deliveries to a webhook that have failed: the response of `GET /api/webhooks/<id>/deliveries`.
public struct FailedDeliveryList: Sendable, Equatable, Codable {
  /// The deliveries, the last first; at most 20, for 30 days.
  public let deliveries: [Delivery]

  /// Creates a list.
  package init(deliveries: [Delivery]) { self.deliveries = deliveries }

  /// A delivery that became no notification.
  public struct Delivery: Sendable, Equatable, Codable {
    /// Its number, by which it can be replayed.
    public let id: Int
    /// When it failed last.
    public let failed: Date
    /// Why it failed.
    public let reason: String

    /// Describes a delivery.
    package init(id: Int, failed: Date, reason: String) {
      (self.id, self.failed, self.reason) = (id, failed, reason)
    }
  }
}

/// What became of an event: the response to what is posted to a webhook, and of
/// `POST /api/webhooks/<id>/deliveries/<id>/replay`.
public struct WebhookResult: Sendable, Equatable, Codable {
  /// What was done.
  public enum Done: String, Sendable, Codable {
    /// A notification was sent.
    case sent
    /// Nothing: it was sent before, with the same key.
    case repeated
    /// The notification about the same subject was withdrawn.
    case withdrawn
    /// Nothing: the template has no rule for it, or there is nothing to withdraw.
    case ignored
  }

  /// What was done.
  public let done: Done
  /// The notification that it is about.
  public let notification: Int?

  /// Describes what was done.
  package init(_ done: Done, _ notification: Int? = nil) {
    (self.done, self.notification) = (done, notification)
  }
}
