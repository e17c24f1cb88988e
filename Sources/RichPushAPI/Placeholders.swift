/// A text in which `{{name}}` or `{{name|default}}` stands for a value of the recipient; `{{{{` is a literal `{{`.
package struct PlaceholderText: Sendable, Equatable {
  /// What a text consists of.
  private enum Part: Sendable, Equatable {
    case literal(String)
    case value(name: String, default: String?)
  }

  /// Where a value is put, which decides how it is written.
  package enum Place: Sendable {
    /// A text, whose values lose their control characters.
    case text
    /// A text of any number of lines, whose values lose all other control characters.
    case lines
    /// What only programs read; its values stay as they are.
    case name
    /// Path or query of a URL.
    case link
  }

  private var parts: [Part] = []
  /// Whether a `{{` begins no placeholder.
  package private(set) var isValid = true

  /// A text without placeholders, written as one that may have them.
  package static func escaped(_ text: String) -> String { text.replacing("{{", with: "{{{{") }

  /// Reads a text, in which these are the names that its placeholders may have.
  package init(_ text: String, names isName: (String) -> Bool = Self.isName) {
    var rest = text[...]
    var literal = ""
    while let brace = rest.firstRange(of: "{{") {
      literal += rest[..<brace.lowerBound]
      rest = rest[brace.upperBound...]
      if rest.hasPrefix("{{") {
        literal += "{{"
        rest = rest.dropFirst(2)
        continue
      }
      guard let end = rest.firstRange(of: "}}") else {
        isValid = false
        literal += "{{"
        // No later one has an end: to look for each would take a time that grows with the square of the length.
        break
      }
      let words = rest[..<end.lowerBound].split(
        separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
      let name = words.first.map { String($0) } ?? ""
      if !isName(name) { isValid = false }
      if !literal.isEmpty { parts.append(.literal(literal)) }
      literal = ""
      parts.append(.value(name: name, default: words.count > 1 ? String(words[1]) : nil))
      rest = rest[end.upperBound...]
    }
    literal += rest
    if !literal.isEmpty { parts.append(.literal(literal)) }
  }

  /// The names of its placeholders; `required` are those of which one has no default.
  package var names: (all: Set<String>, required: Set<String>) {
    var (all, required): (Set<String>, Set<String>) = ([], [])
    for case .value(let name, let preset) in parts {
      all.insert(name)
      if preset == nil { required.insert(name) }
    }
    return (all, required)
  }

  /// The number of its placeholders, also of those of the same name.
  package var count: Int {
    parts.count { part in
      if case .value = part { true } else { false }
    }
  }

  /// Whether it has any.
  var hasPlaceholders: Bool { !names.all.isEmpty }

  /// A value of every name.
  var examples: [String: String] {
    Dictionary(uniqueKeysWithValues: names.all.map { ($0, "value") })
  }

  /// The text with values in their places; one that is missing is empty.
  package func text(with values: [String: String], in place: Place) -> String {
    let isRightToLeft = parts.lazy.compactMap { part -> Bool? in
      if case .literal(let text) = part { Self.isRightToLeft(text) } else { nil }
    }.first
    return parts.map { part in
      switch part {
      case .literal(let text): return text
      case .value(let name, let preset):
        switch (place, values[name]) {
        case (.link, let value): return Self.encoded(value ?? preset ?? "")
        case (_, nil): return preset ?? ""
        case (.name, let value?): return value
        case (.text, let value?): return Self.isolated(Self.cleaned(value), within: isRightToLeft)
        case (.lines, let value?):
          let lines = value.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
          return lines.map { Self.isolated(Self.cleaned(String($0)), within: isRightToLeft) }
            .joined(separator: "\n")
        }
      }
    }.joined()
  }

  /// Whether it can be a value's name: a small letter, then letters, digits and `_`, at most 32.
  package static func isName(_ name: String) -> Bool {
    guard (1...32).contains(name.utf8.count), let first = name.utf8.first,
      (0x61...0x7A).contains(first)
    else { return false }
    return name.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x5F
    }
  }

  // MARK: - Values

  /// Without control characters, and without those that change the direction of what follows.
  private static func cleaned(_ value: String) -> String {
    var text = String.UnicodeScalarView()
    for scalar in value.unicodeScalars where !isControl(scalar) { text.append(scalar) }
    return String(text)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: true
    default: scalar.properties.generalCategory == .control
    }
  }

  /// In an isolate (UAX #9) if its direction is not that of the text around it.
  private static func isolated(_ value: String, within isRightToLeft: Bool?) -> String {
    guard let own = Self.isRightToLeft(value), own != (isRightToLeft ?? false) else { return value }
    return "\u{2068}\(value)\u{2069}"
  }

  /// The direction of the first letter that has one; nil if none has.
  private static func isRightToLeft(_ text: String) -> Bool? {
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF:
        if scalar.properties.isAlphabetic { return true }
      default: if scalar.properties.isAlphabetic { return false }
      }
    }
    return nil
  }

  /// Percent-encoded (RFC 3986, section 2.1), all but unreserved characters.
  private static func encoded(_ value: String) -> String {
    // Also with its dots encoded, a segment "." or ".." would change the path (WHATWG URL).
    let isDots = value.utf8.allSatisfy { $0 == 0x2E }
    return value.utf8.reduce(into: "") { text, byte in
      switch byte {
      case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, 0x2D, 0x5F, 0x7E:
        text.unicodeScalars.append(Unicode.Scalar(byte))
      case 0x2E: text += isDots ? "%252E" : "."
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
  }
}

extension NotificationMessage {
  /// The most placeholders in one text.
  package static let mostPlaceholders = 64
  /// The most placeholders' names in a message, and the most values of a recipient.
  package static let mostValues = 32
  /// The longest value, in bytes.
  package static let longestValue = 256

  /// The names of the values that it needs in any language; `required` are those that have neither a default nor a
  /// variable.
  package var placeholders: (all: Set<String>, required: Set<String>) {
    var (all, required): (Set<String>, Set<String>) = ([], [])
    for text in texts {
      let names = PlaceholderText(text).names
      all.formUnion(names.all)
      required.formUnion(names.required)
    }
    return (all, required.subtracting((variables ?? [:]).keys))
  }

  /// Whether its texts have placeholders, or a literal `{{`.
  package var hasPlaceholders: Bool { texts.contains { $0.contains("{{") } }

  /// The message for a recipient who has some values; without variables.
  package func personalized(with values: [String: String]) -> NotificationMessage {
    guard hasPlaceholders || variables != nil else { return self }
    var message = self
    message.variables = nil
    let all = (variables ?? [:]).merging(values) { $1 }
    func text(_ text: String) -> String { PlaceholderText(text).text(with: all, in: .text) }
    func link(_ link: String) -> String { PlaceholderText(link).text(with: all, in: .link) }
    message.text = text(self.text)
    (message.title, message.subtitle) = (title.map(text), subtitle.map(text))
    (message.alt, message.link) = (alt.map(text), self.link.map(link))
    message.actions = actions?.map { action in
      var action = action
      (action.label, action.input) = (text(action.label), action.input.map(text))
      action.link = action.link.map(link)
      return action
    }
    message.languages = languages?.mapValues { translation in
      var translation = translation
      translation.text = translation.text.map(text)
      translation.title = translation.title.map(text)
      translation.subtitle = translation.subtitle.map(text)
      translation.alt = translation.alt.map(text)
      translation.link = translation.link.map(link)
      translation.actions = translation.actions?.mapValues(text)
      return translation
    }
    return message
  }

  /// All texts that may have placeholders, links included.
  private var texts: [String] {
    let own = [text, title, subtitle, alt, link].compactMap(\.self)
    let buttons = (actions ?? []).flatMap {
      [$0.label, $0.input, $0.link].compactMap(\.self)
    }
    let others = (languages ?? [:]).values.flatMap { translation in
      [
        translation.text, translation.title, translation.subtitle, translation.alt,
        translation.link,
      ].compactMap(\.self) + (translation.actions.map { Array($0.values) } ?? [])
    }
    return own + buttons + others
  }
}
