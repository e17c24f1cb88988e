#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The rules of a message's members.
extension NotificationMessage {
  /// The longest text, in bytes.
  package static let longestText = 16_384
  /// The most buttons.
  package static let mostActions = 4

  /// All that is wrong with a message; `allowing` are the URL schemes that a link may have beside `https`.
  package func faults(allowing schemes: Set<String>) -> [ServiceError.Fault] {
    var rules = MessageRules(schemes: schemes)
    rules.checkText("message", text, atMost: Self.longestText, .tooLarge)
    rules.checkLine("title", title, atMost: 1024)
    rules.checkLine("subtitle", subtitle, atMost: 1024)
    rules.checkText("alt", alt, atMost: 1000)
    rules.checkLink("link", link)
    rules.checkLine("category", category, atMost: 64)
    rules.checkLine("thread", thread, atMost: 64)
    rules.checkLine("replaces", replaces, atMost: 64)
    rules.checkLine("channel", channel, atMost: 64)
    rules.checkIcon(icon)
    rules.check(sound)
    rules.require((0...1).contains(relevance ?? 0), "relevance", "is a number from 0 to 1")
    if let colour {
      let isColour =
        colour.utf8.count == 7 && colour.hasPrefix("#")
        && colour.utf8.dropFirst().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
      rules.require(isColour, "colour", "is a colour such as #00aa77")
    }
    if let label {
      let isLabel = label.utf8.allSatisfy {
        MessageRules.isNameByte($0) || $0 == 0x7E || $0 == 0x25
      }
      rules.require(
        isLabel && (1...50).contains(label.utf8.count), "label",
        "has from 1 to 50 letters, digits and the characters -_.~%")
    }
    if let data { rules.check(data: data) }
    if let actions { rules.check(actions) }
    return rules.faults
  }
}

/// Collects the faults of a message.
private struct MessageRules {
  let schemes: Set<String>
  private(set) var faults: [ServiceError.Fault] = []

  private static let longestLink = 2000

  init(schemes: Set<String>) { self.schemes = schemes }

  /// Letters, digits and `-_.`.
  static func isNameByte(_ byte: UInt8) -> Bool {
    let character = Character(Unicode.Scalar(byte))
    return character.isASCII
      && (character.isLetter || character.isNumber || "-_.".contains(character))
  }

  mutating func require(
    _ isRight: Bool, _ member: String, _ rule: String, _ code: ServiceError.Code = .rejected
  ) {
    if !isRight { faults.append(.init(member, code, "\(member) \(rule).")) }
  }

  /// A text of any number of lines.
  mutating func checkText(
    _ member: String, _ text: String?, atMost limit: Int, _ code: ServiceError.Code = .rejected
  ) {
    guard let text else { return }
    require(!text.utf8.contains(0), member, "holds a NUL character", .invalidRequest)
    require(text.utf8.count <= limit, member, "has more than \(limit) bytes", code)
  }

  /// A text of one line that is not empty.
  mutating func checkLine(_ member: String, _ text: String?, atMost limit: Int) {
    guard let text else { return }
    require(text.utf8.count <= limit, member, "has more than \(limit) bytes")
    require(
      !text.unicodeScalars.contains {
        $0.properties.generalCategory == .control || $0 == "\u{2028}"
      },
      member, "has more than one line, or a control character")
    require(text.contains { !$0.isWhitespace }, member, "is empty; leave it out")
  }

  mutating func checkLink(_ member: String, _ link: String?) {
    guard let link else { return }
    require(link.utf8.count <= Self.longestLink, member, "has more than \(Self.longestLink) bytes")
    let scheme = link.prefix { $0 != ":" }.lowercased()
    let allowed = ["https"] + schemes.sorted()
    require(
      Self.isURL(link) && allowed.contains(scheme), member,
      "is not a URL that begins with \(allowed.map { $0 + ":" }.joined(separator: " or "))")
  }

  mutating func checkIcon(_ icon: String?) {
    guard let icon else { return }
    require(icon.utf8.count <= Self.longestLink, "icon", "has more than \(Self.longestLink) bytes")
    require(
      Self.isURL(icon) && icon.lowercased().hasPrefix("https:"), "icon",
      "is not a URL that begins with https:")
  }

  /// Whether every URL parser takes it as it is: no spaces, nothing but ASCII, and with `https` a host.
  private static func isURL(_ text: String) -> Bool {
    let forbidden: Set<Character> = ["\"", "<", ">", "\\", "^", "`", "{", "|", "}"]
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      !text.contains(where: forbidden.contains),
      let url = URL(string: text), let scheme = url.scheme
    else { return false }
    guard scheme.lowercased() == "https" else { return text.utf8.count > scheme.utf8.count + 1 }
    return text.dropFirst(6).hasPrefix("//") && url.host.map { !$0.isEmpty } == true
      && url.user == nil && url.password == nil
  }

  mutating func check(_ sound: MessageSound?) {
    switch sound {
    case nil, .silent, .default: break
    case .named(let name):
      require(
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(Self.isNameByte), "sound",
        "is none, default, or the name of a file of the app, such as chime.caf")
    case .critical(let volume):
      require((0...1).contains(volume), "sound.critical", "is a volume from 0 to 1")
    }
  }

  mutating func check(data: JSONValue) {
    guard let members = data.members else {
      require(false, "data", "is not a JSON object", .invalidRequest)
      return
    }
    let isFlat = members.values.allSatisfy { value in
      let items: [JSONValue] =
        switch value {
        case .object(let members): Array(members.values)
        case .array(let items): items
        default: []
        }
      return items.allSatisfy { item in
        switch item {
        case .object, .array: false
        default: true
        }
      }
    }
    require(isFlat, "data", "has more than two levels")
    require(JSONCoding.encode(data).count <= 1024, "data", "has more than 1024 bytes")
  }

  mutating func check(_ actions: [MessageAction]) {
    let most = NotificationMessage.mostActions
    require(actions.count <= most, "actions", "has more than \(most) buttons")
    var ids: Set<String> = []
    for (index, action) in actions.enumerated() {
      let name = "actions[\(index)]"
      let isID =
        (1...32).contains(action.id.utf8.count)
        && action.id.utf8.allSatisfy {
          (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
        }
      require(isID, "\(name).id", "has from 1 to 32 lower-case letters, digits and hyphens")
      require(ids.insert(action.id).inserted, "\(name).id", "is that of an earlier button")
      checkLine("\(name).label", action.label, atMost: 64)
      checkLine("\(name).input", action.input, atMost: 64)
      checkLink("\(name).link", action.link)
      let kinds = [action.link != nil, action.input != nil, action.dismiss == true]
      require(
        kinds.count { $0 } <= 1, name, "has more than one of link, input and dismiss")
    }
  }
}
