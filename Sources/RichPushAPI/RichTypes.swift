/// The kinds of content that there are: the response of `GET /api/types`.
public struct RichTypeList: Sendable, Equatable, Codable {
  /// The rich types by name, without those whose plugin cannot be used.
  public let types: [RichType]

  /// Creates the response.
  package init(types: [RichType]) { self.types = types }

  /// A kind of content.
  public struct RichType: Sendable, Equatable, Codable {
    /// Its name, the `richType` of a notification.
    public let richType: String
    /// What people read, by language; empty if its plugin does not say.
    public let label: [String: String]
    /// What is filled in for content without a file: the members of the payload; nil if its plugin does not say.
    @Nullable public var form: [Field]?

    /// Describes a kind of content.
    package init(richType: String, label: [String: String], form: [Field]?) {
      (self.richType, self.label) = (richType, label)
      self.form = form
    }
  }

  /// What is filled in for a member of a payload.
  public struct Field: Sendable, Equatable, Codable {
    /// The name of the member.
    public let name: String
    /// What people read, by language.
    public let label: [String: String]
    /// `text`, `longtext`, `number`, `date`, `url`, `choice` or `boolean`.
    public let kind: String
    /// Whether the member must be there.
    public let required: Bool
    /// The values of a choice; empty for other kinds.
    public let choices: [Choice]
    /// A value that it takes.
    @Nullable public var example: JSONValue?
    /// The smallest number.
    @Nullable public var minimum: Double?
    /// The largest number.
    @Nullable public var maximum: Double?
    /// The longest text, in characters.
    @Nullable public var maxLength: Int?

    /// Describes a field; the optional members can be set afterwards.
    package init(
      name: String, label: [String: String], kind: String, required: Bool, choices: [Choice]
    ) {
      (self.name, self.label, self.kind) = (name, label, kind)
      (self.required, self.choices) = (required, choices)
    }
  }

  /// One of the values of a field.
  public struct Choice: Sendable, Equatable, Codable {
    /// The value in the payload.
    public let value: String
    /// What people read, by language.
    public let label: [String: String]

    /// Describes a choice.
    package init(value: String, label: [String: String]) {
      (self.value, self.label) = (value, label)
    }
  }
}
