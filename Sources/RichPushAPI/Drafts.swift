#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A draft as it is to be: the body of `POST /api/drafts` and `PUT /api/drafts/<id>`.
public struct NewDraft: Sendable, Equatable {
  /// What people call it; empty if they do not.
  public var name: String
  /// The members of the notification that there are so far, as in ``NewNotification``; nothing has to be complete.
  public var notification: JSONValue
  /// Whether it is a template, which is kept for more than one notification.
  public var isTemplate: Bool

  /// Describes a draft.
  ///
  /// ```swift
  /// let draft = NewDraft(.object(["title": .string("Sale")]), name: "Summer")
  /// ```
  public init(_ notification: JSONValue, name: String = "", isTemplate: Bool = false) {
    (self.name, self.notification, self.isTemplate) = (name, notification, isTemplate)
  }
}

extension NewDraft: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case name, notification
    case isTemplate = "template"
  }

  /// Decodes the body.
  ///
  /// - Throws: a `ServiceError` with a fault for each member that is missing or has the wrong type.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    name = reader.read(.name) ?? ""
    notification = reader.readValue(.notification) ?? reader.require(.notification) ?? .null
    isTemplate = reader.read(.isTemplate) ?? false
    try reader.throwFaults()
  }
}

extension NewDraft: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// What publishers have begun to write: the response of `GET /api/drafts`.
public struct DraftPage: Sendable, Equatable, Codable {
  /// The drafts, the last changed first; templates by their names.
  public let drafts: [Draft]
  /// What `after` is for the next page; nil on the last one.
  @Nullable public var next: Int?

  /// Creates a page.
  package init(drafts: [Draft], next: Int?) {
    self.drafts = drafts
    self.next = next
  }

  /// A notification that somebody has begun to write.
  public struct Draft: Sendable, Equatable, Codable {
    /// The number.
    public let id: Int
    /// What people call it; empty if they do not.
    public let name: String
    /// The members of the notification that there are so far.
    public let notification: JSONValue
    /// Whether it is a template, which is kept for more than one notification.
    public let isTemplate: Bool
    /// Another number with each change, also as `ETag`.
    public let version: Int
    /// Who has begun it; nil if that user was removed.
    @Nullable public var author: String?
    /// Who has changed it last; nil if that user was removed.
    @Nullable public var editor: String?
    /// When it was begun.
    public let created: Date
    /// When it was changed last.
    public let updated: Date

    private enum CodingKeys: String, CodingKey {
      case id, name, notification, version, author, editor, created, updated
      case isTemplate = "template"
    }

    /// Describes a draft; `author` and `editor` can be set afterwards.
    package init(
      id: Int, name: String, notification: JSONValue, isTemplate: Bool, version: Int, created: Date,
      updated: Date
    ) {
      (self.id, self.name, self.notification) = (id, name, notification)
      (self.isTemplate, self.version) = (isTemplate, version)
      (self.created, self.updated) = (created, updated)
      (author, editor) = (nil, nil)
    }
  }
}
