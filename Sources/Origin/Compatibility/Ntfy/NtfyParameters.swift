import HTTP
import Primitives
import RichPushAPI

/// What a message of ntfy's API is described by, in any of the spellings that its server reads.
struct NtfyParameters: Sendable {
  /// A parameter; the raw value is its member in JSON.
  enum Name: String, CaseIterable {
    case title, message, priority, tags, click, icon, filename, attach, email, call, delay, actions
    case markdown, template, unifiedpush, pollId = "poll_id", cache, firebase
    case sequenceId = "sequence_id"

    /// The names of fields, without regard to case, and of query parameters, in lower case.
    var spellings: [String] {
      switch self {
      case .title: ["x-title", "title", "t"]
      case .message: ["x-message", "message", "m"]
      case .priority: ["x-priority", "priority", "prio", "p"]
      case .tags: ["x-tags", "tags", "tag", "ta"]
      case .click: ["x-click", "click"]
      case .icon: ["x-icon", "icon"]
      case .filename: ["x-filename", "filename", "file", "f"]
      case .attach: ["x-attach", "attach", "a"]
      case .email: ["x-email", "x-e-mail", "email", "e-mail", "mail", "e"]
      case .call: ["x-call", "call"]
      case .delay: ["x-delay", "delay", "x-at", "at", "x-in", "in"]
      case .actions: ["x-actions", "actions", "action"]
      case .markdown: ["x-markdown", "markdown", "md"]
      case .template: ["x-template", "template", "tpl"]
      case .unifiedpush: ["x-unifiedpush", "unifiedpush", "up"]
      case .pollId: ["x-poll-id", "poll-id"]
      case .cache: ["x-cache", "cache"]
      case .firebase: ["x-firebase", "firebase"]
      case .sequenceId: ["x-sequence-id", "sequence-id", "sid"]
      }
    }

    /// Whether it can be a member of the JSON form.
    var isMember: Bool { ![.template, .unifiedpush, .pollId].contains(self) }
  }

  /// The values that are not empty.
  private(set) var values: [Name: String] = [:]
  /// The buttons of the JSON form, which are no text.
  private(set) var actions: JSONValue?

  subscript(_ name: Name) -> String? { values[name] }

  /// Whether a parameter says yes.
  func isTrue(_ name: Name) -> Bool {
    ["1", "yes", "true"].contains(values[name]?.lowercased() ?? "")
  }

  /// The parameters of a request: of a field rather than of the query.
  ///
  /// - Throws: `unknownField` for a query parameter that ntfy does not have.
  init(_ request: Request) throws(ServiceError) {
    for (name, value) in request.query.items {
      let spelling = name.lowercased()
      // With `auth`, credentials are in the query.
      if spelling == "auth" { continue }
      guard let known = Name.allCases.first(where: { $0.spellings.contains(spelling) }) else {
        throw ServiceError(
          unknown: "query parameter", String(name.prefix(60)),
          among: Name.allCases.map { $0.spellings.first ?? "" })
      }
      set(known, value, replaces: false)
    }
    for name in Name.allCases {
      let found = name.spellings.lazy.compactMap { spelling -> String? in
        guard let bytes = request.fields.bytes(of: spelling) else { return nil }
        let text = ForeignText.field(bytes).trimming(\.isWhitespace)
        // Of browsers, for HTTP's own priorities (RFC 9218).
        if name == .priority, text.wholeMatch(of: /u=\d(,\s*(i|\d))?/) != nil { return nil }
        return text.isEmpty ? nil : text
      }.first
      if let found { set(name, found, replaces: true) }
    }
  }

  private mutating func set(_ name: Name, _ value: String, replaces: Bool) {
    let text = value.trimming(\.isWhitespace)
    if !text.isEmpty, replaces || values[name] == nil { values[name] = text }
  }

  /// The parameters of the JSON form, which take precedence over those of its request, and the topic.
  init(_ request: Request, _ body: [UInt8]) throws(ServiceError) {
    try self.init(request)
    guard let members = JSONValue(body)?.members else {
      throw ServiceError(.init("json", .invalidRequest, "The body is not a JSON object in UTF-8."))
    }
    let known = Name.allCases.filter(\.isMember).map(\.rawValue) + ["topic"]
    if let error = ServiceError(members: Array(members.keys), known: known) { throw error }
    for name in Name.allCases where name.isMember {
      guard let value = members[name.rawValue], value != .null else { continue }
      if name == .actions, value.text == nil {
        if value != .array([]) { actions = value }
      } else {
        set(name, try Self.text(of: name, value), replaces: true)
      }
    }
    topic = members["topic"]?.text
  }

  /// The topic that the JSON form names.
  private(set) var topic: String?

  /// What a header field with the value of a member would say.
  private static func text(
    of name: Name, _ value: JSONValue
  ) throws(ServiceError) -> String {
    switch value {
    case .string(let text): return text
    case .bool(let bool): return bool ? "yes" : "no"
    // As ntfy's, which is an integer, with 0 for none.
    case .number(let number):
      guard let integer = Int(exactly: number) else { break }
      return name == .priority && integer == 0 ? "" : String(integer)
    case .array(let items) where name == .tags:
      let tags = items.compactMap(\.text)
      guard tags.count == items.count else { break }
      return tags.joined(separator: ",")
    case .null, .array, .object: break
    }
    throw ServiceError(
      .init(name.rawValue, .invalidRequest, "\(name.rawValue) has the wrong type."))
  }
}
