/// Where an asset was used, by its name: the response of `GET /api/assets/<richType>/<name>/uses`.
public struct AssetUses: Sendable, Equatable, Codable {
  /// Notifications with it that are still there, the newest first: the caller's or, for an admin, all.
  public let notifications: [SentPage.Entry]
  /// The ID that `before` has on the next page; nil on the last one.
  @Nullable public var next: Int?
  /// On the first page, how many notifications of all senders have it.
  public var count: Int?
  /// On the first page, drafts and templates that name it, the last changed first.
  public var drafts: [Draft]?

  /// Creates a page; the other members can be set afterwards.
  package init(notifications: [SentPage.Entry], next: Int?) {
    self.notifications = notifications
    self.next = next
  }

  /// A draft or a template.
  public struct Draft: Sendable, Equatable, Codable {
    /// The number.
    public let id: Int
    /// What people call it; empty if they do not.
    public let name: String
    /// Whether it is a template, which is kept for more than one notification.
    public let isTemplate: Bool

    private enum CodingKeys: String, CodingKey {
      case id, name
      case isTemplate = "template"
    }

    /// Describes a draft.
    package init(id: Int, name: String, isTemplate: Bool) {
      (self.id, self.name, self.isTemplate) = (id, name, isTemplate)
    }
  }
}
