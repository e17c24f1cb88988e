import RichPushAPI

/// Where something is in an event: members and elements of its JSON, such as `alerts[0].labels.job`, or a field of its
/// request's head, such as `@X-GitHub-Event`.
struct EventPath: Sendable, Equatable {
  private enum Step: Sendable, Equatable {
    case member(String)
    case element(Int)
    /// `[]`: all elements.
    case elements
  }

  private var steps: [Step] = []
  /// The field that it names, in lower case; nil for a path in the JSON.
  private(set) var field: String?

  private static let longest = 200

  /// Nil if it is not well-formed.
  init?(_ text: String) {
    guard (1...Self.longest).contains(text.utf8.count) else { return nil }
    if text.hasPrefix("@") {
      let name = text.dropFirst().lowercased()
      let isName = name.utf8.allSatisfy {
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
      }
      // No other has a secret of the sender or of a proxy.
      guard isName, name.hasPrefix("x-"), name.utf8.count > 2 else { return nil }
      field = name
      return
    }
    for part in text.split(separator: ".", omittingEmptySubsequences: false) {
      let name = part.prefix { $0 != "[" }
      guard !name.isEmpty, name.allSatisfy(Self.isNameCharacter) else { return nil }
      steps.append(.member(String(name)))
      var rest = part[name.endIndex...]
      while !rest.isEmpty {
        guard rest.first == "[", let end = rest.firstIndex(of: "]") else { return nil }
        let index = rest[..<end].dropFirst()
        rest = rest[end...].dropFirst()
        if index.isEmpty {
          steps.append(.elements)
        } else {
          guard index.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(index)
          else { return nil }
          steps.append(.element(number))
        }
      }
    }
  }

  private static func isNameCharacter(_ character: Character) -> Bool {
    !character.isWhitespace && !character.isNewline && !"[]{}|@\"".contains(character)
  }

  /// Whether it is one.
  static func isPath(_ text: String) -> Bool { EventPath(text) != nil }

  /// What is there: at most one value, unless the path has `[]`.
  func values(in event: WebhookEvent) -> [JSONValue] {
    if let field { return event.fields[field].map { [.string($0)] } ?? [] }
    var found = [event.body]
    for step in steps {
      found = found.flatMap { value -> [JSONValue] in
        switch (step, value) {
        case (.member(let name), .object(let members)): members[name].map { [$0] } ?? []
        case (.element(let index), .array(let items)):
          items.indices.contains(index) ? [items[index]] : []
        case (.elements, .array(let items)): items
        default: []
        }
      }
    }
    return found.filter { $0 != .null }
  }

  /// The strings, numbers and truth values that are there, as text.
  func texts(in event: WebhookEvent) -> [String] {
    values(in: event).compactMap { value in
      switch value {
      case .string(let text): text
      case .bool(let isTrue): isTrue ? "true" : "false"
      case .number: JSONCoding.text(value)
      case .null, .array, .object: nil
      }
    }
  }
}

/// What was posted to a webhook, as its template reads it.
struct WebhookEvent: Sendable {
  /// The JSON.
  let body: JSONValue
  /// Fields of the head, by their names in lower case.
  var fields: [String: String] = [:]
}
