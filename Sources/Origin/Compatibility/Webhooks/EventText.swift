import Primitives
import RichPushAPI

/// A string of a template, in which `{{path}}` and `{{path|default}}` stand for what is in the event.
struct EventText: Sendable {
  /// What a string is, which decides what of its values may stay.
  enum Kind: Sendable {
    /// One line for people.
    case line
    /// Lines for people.
    case lines
    /// A link; one that begins with a placeholder is as the event has it.
    case link
    /// The same, which can have no placeholders of recipients.
    case address
    /// For programs.
    case name

    /// How many of the values of one placeholder are shown, and what is between them.
    fileprivate var list: (most: Int, separator: String) {
      switch self {
      case .line: (10, ", ")
      case .lines: (10, "\n")
      case .link, .address: (10, ",")
      case .name: (.max, " ")
      }
    }
  }

  let text: String
  private let template: PlaceholderText

  /// The longest texts for people, in bytes: what is longer is cut, so that it arrives at all.
  private static let longest = (line: 256, lines: 4096)
  /// The most bytes that one placeholder stands for.
  private static let longestValue = 64 << 10

  /// Nil if it has a `{{` that begins no placeholder.
  init?(_ text: String) {
    template = PlaceholderText(text, names: EventPath.isPath)
    guard template.isValid else { return nil }
    self.text = text
  }

  /// The paths of its placeholders.
  var paths: Set<String> { template.names.all }

  /// The number of its placeholders: each may take as much space as all of its value.
  var count: Int { template.count }

  /// Whether it begins with a placeholder.
  var beginsWithValue: Bool { text.hasPrefix("{{") && !text.hasPrefix("{{{{") }

  /// The text for an event; nil if nothing is left of one with placeholders.
  ///
  /// Where a message has placeholders of its recipients, none can come from an event: its `{{` are literal.
  func text(for event: WebhookEvent, as kind: Kind) -> String? {
    var values: [String: String] = [:]
    for path in paths {
      let texts = EventPath(path)?.texts(in: event) ?? []
      guard !texts.isEmpty else { continue }
      let (most, separator) = kind.list
      var text = texts.prefix(most).joined(separator: separator)
      if texts.count > most { text += separator + "…" }
      text = Self.cut(text, Self.longestValue)
      values[path] = kind == .line ? ForeignText.line(text) : text
    }
    let result =
      switch kind {
      case .line: shown(template.text(with: values, in: .text), Self.longest.line)
      case .lines: shown(template.text(with: values, in: .lines), Self.longest.lines)
      case .name: template.text(with: values, in: .name)
      case .link: PlaceholderText.escaped(link(values))
      case .address: link(values)
      }
    return !paths.isEmpty && result.allSatisfy(\.isWhitespace) ? nil : result
  }

  private func link(_ values: [String: String]) -> String {
    beginsWithValue
      ? ForeignText.url(template.text(with: values, in: .name))
      : template.text(with: values, in: .link)
  }

  private func shown(_ text: String, _ limit: Int) -> String {
    let trimmed = text.trimming(\.isWhitespace)
    var short = Self.cut(trimmed, limit)
    while true {
      let escaped = PlaceholderText.escaped(short)
      let excess = escaped.utf8.count - limit
      guard excess > 0 else { return escaped }
      short = Self.cut(short, short.utf8.count - excess)
    }
  }

  /// A text of at most a number of bytes, with `…` in place of what is cut off.
  private static func cut(_ text: String, _ limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    var (count, end) = (0, text.startIndex)
    for index in text.indices {
      count += text[index].utf8.count
      if count > limit - 3 { break }
      end = text.index(after: index)
    }
    return text[..<end] + "…"
  }
}
