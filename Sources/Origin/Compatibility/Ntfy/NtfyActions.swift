import Primitives
import RichPushAPI

/// The buttons of a message: in ntfy's own notation, or as a JSON array.
struct NtfyActions: Sendable, Equatable {
  /// A button that opens a URL.
  struct View: Sendable, Equatable {
    var label: String
    var url: String
    /// Whether the notification goes when it is pressed; every platform does as it likes.
    var clear: Bool
  }

  let views: [View]

  /// The members of a button, before they are checked.
  private typealias Members = [String: String]

  /// Reads the value of a parameter.
  init(_ text: String) throws(ServiceError) {
    if text.hasPrefix("[") {
      guard let value = JSONValue(text.utf8) else { throw Self.fault("is not JSON") }
      try self.init(value)
    } else {
      try self.init(Self.members(text))
    }
  }

  /// Reads the array of the JSON form.
  init(_ value: JSONValue) throws(ServiceError) {
    guard case .array(let items) = value else { throw Self.fault("must be an array of objects") }
    var all: [Members] = []
    for item in items {
      guard let members = item.members else { throw Self.fault("must be an array of objects") }
      var texts: Members = [:]
      for (name, value) in members {
        switch value {
        case .string(let text): texts[name] = text
        case .bool(let bool): texts[name] = bool ? "true" : "false"
        // As ntfy's own answers have them, for actions that have none.
        case .null: continue
        case .object(let members) where members.isEmpty: continue
        case .number, .array, .object: texts[name + "."] = ""
        }
      }
      all.append(texts)
    }
    try self.init(all)
  }

  private init(_ all: [Members]) throws(ServiceError) {
    guard all.count <= 3 else { throw Self.fault("must have at most 3 buttons") }
    var views: [View] = []
    for members in all {
      let kind = (members["action"] ?? "").lowercased()
      guard kind == "view" else {
        throw Self.fault(
          ["http", "broadcast"].contains(kind)
            ? "of the kind \(kind) are not supported: a button can open a URL (view)"
            : "must each have an action, of which view is supported, not \(kind.quoted)")
      }
      let known = ["id", "action", "label", "url", "clear", "method", "body", "intent"]
      let unknown = members.keys.filter { !known.contains($0) }.sorted().first
      if let unknown { throw Self.fault("have a member \(unknown.quoted), which view does not") }
      let extra = ["method", "body", "intent"].first { members[$0].map { !$0.isEmpty } ?? false }
      if let extra { throw Self.fault("have a \(extra), which view does not") }
      guard let label = members["label"], !label.isEmpty else {
        throw Self.fault("must each have a label")
      }
      guard let url = members["url"], !url.isEmpty else { throw Self.fault("must each have a url") }
      guard let clear = Self.bool(members["clear"] ?? "false") else {
        throw Self.fault("must have true or false as clear")
      }
      views.append(View(label: label, url: url, clear: clear))
    }
    self.views = views
  }

  private static func bool(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "1": true
    case "false", "no", "0", "": false
    default: nil
    }
  }

  private static func fault(_ rule: String) -> ServiceError {
    ServiceError(.init("actions", .rejected, "actions \(rule)."))
  }

  // MARK: - ntfy's notation

  /// Buttons with `;` between them, their members with `,`: `view, Open, https://example.org, clear=true`.
  ///
  /// A value in quotes may have these characters; the first members need no names.
  private static func members(_ text: String) throws(ServiceError) -> [Members] {
    var (all, rest) = ([Members](), text[...])
    skipSpaces(&rest)
    while !rest.isEmpty {
      var (members, position) = (Members(), 0)
      var isLast = false
      while !isLast {
        skipSpaces(&rest)
        let key = Self.key(&rest)
        let value: String
        if let quote = rest.first, quote == "\"" || quote == "'" {
          value = try quoted(&rest, by: quote)
        } else {
          value = String(rest.prefix { $0 != "," && $0 != ";" }).trimming(\.isWhitespace)
          rest = rest.drop { $0 != "," && $0 != ";" }
        }
        let names = ["action", "label", "url"]
        guard let name = key ?? (position < names.count ? names[position] : nil) else {
          throw fault("have a part without a name: \(String(value.prefix(60)).quoted)")
        }
        members[name] = value
        position += 1
        isLast = rest.popFirst() != ","
      }
      all.append(members)
      skipSpaces(&rest)
    }
    return all
  }

  private static func skipSpaces(_ rest: inout Substring) {
    rest = rest.drop(while: \.isWhitespace)
  }

  /// The name before a `=`, in lower case.
  private static func key(_ rest: inout Substring) -> String? {
    guard let match = rest.prefixMatch(of: /([-._A-Za-z0-9]+)\s*=\s*/) else { return nil }
    rest = rest[match.range.upperBound...]
    return match.1.lowercased()
  }

  /// A value in quotes, after which a separator or the end has to follow.
  private static func quoted(
    _ rest: inout Substring, by quote: Character
  ) throws(ServiceError) -> String {
    rest.removeFirst()
    var (value, isEscaped) = ("", false)
    while let character = rest.popFirst() {
      if isEscaped {
        if character != quote, character != "\\" { value += "\\" }
        value.append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == quote {
        skipSpaces(&rest)
        guard rest.first.map({ $0 == "," || $0 == ";" }) ?? true else {
          throw fault("have a character after a quoted value that is neither , nor ;")
        }
        return value
      } else {
        value.append(character)
      }
    }
    throw fault("have a quoted value without an end")
  }
}
