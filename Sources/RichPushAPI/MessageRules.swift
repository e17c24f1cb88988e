#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The rules of a message's members.
extension NotificationMessage {
  /// The longest text, in bytes.
  package static let longestText = 16_384
  /// The longest alternative text, in bytes.
  private static let longestAlt = 1000
  /// The most buttons.
  package static let mostActions = 4

  /// All that is wrong with a message; `allowing` are the URL schemes that a link may have beside `https`.
  package func faults(allowing schemes: Set<String>) -> [ServiceError.Fault] {
    var rules = MessageRules(schemes: schemes)
    rules.checkText("message", text, atMost: Self.longestText, .tooLarge)
    rules.checkLine("title", title, atMost: 1024)
    rules.checkLine("subtitle", subtitle, atMost: 1024)
    rules.checkText("alt", alt, atMost: Self.longestAlt)
    rules.checkLink("link", link)
    rules.checkLine("category", category, atMost: 64)
    rules.checkLine("thread", thread, atMost: 64)
    rules.checkLine("replaces", replaces, atMost: 64)
    rules.checkLine("channel", channel, atMost: 64)
    rules.checkIcon(icon)
    rules.check(sound)
    rules.require((0...1).contains(relevance ?? 0), "relevance", "must be a number from 0 to 1")
    if let colour {
      let isColour =
        colour.utf8.count == 7 && colour.hasPrefix("#")
        && colour.utf8.dropFirst().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
      rules.require(isColour, "colour", "must be a colour such as #00aa77")
    }
    if let label {
      let isLabel = label.utf8.allSatisfy {
        MessageRules.isNameByte($0) || $0 == 0x7E || $0 == 0x25
      }
      rules.require(
        isLabel && (1...50).contains(label.utf8.count), "label",
        "must have from 1 to 50 letters, digits and the characters -_.~%")
    }
    if let data { rules.check(data: data) }
    if let actions { rules.check(actions) }
    rules.checkLanguages(of: self)
    rules.checkValues("variables", variables)
    let names = placeholders.all
    rules.require(
      names.count <= Self.mostValues, "message",
      "and the other texts must have at most \(Self.mostValues) placeholders")
    return rules.faults
  }

  /// What is wrong with an alternative text.
  fileprivate static func faults(inAlt alt: String?) -> [ServiceError.Fault] {
    var rules = MessageRules(schemes: [])
    rules.checkText("alt", alt, atMost: longestAlt)
    return rules.faults
  }
}

extension AssetAmendment {
  /// All that is wrong with it.
  package var faults: [ServiceError.Fault] {
    var rules = MessageRules(schemes: [])
    let labels = self.labels.applied(to: nil) ?? []
    rules.require(
      labels.count <= AssetLabel.limit, "labels", "must be at most \(AssetLabel.limit) words")
    for label in labels.prefix(AssetLabel.limit) {
      rules.checkLine("labels", label, atMost: 64)
      rules.require(!label.utf8.contains(0x2C), "labels", "must not hold a comma")
      // One fault says enough.
      if !rules.faults.isEmpty { break }
    }
    return NotificationMessage.faults(inAlt: alt.applied(to: nil)) + rules.faults
  }
}

extension NewNotification {
  /// All that is wrong with the values of recipients.
  package var valueFaults: [ServiceError.Fault] {
    var rules = MessageRules(schemes: [])
    for (tag, values) in (self.values ?? [:]).sorted(by: { $0.key < $1.key }) {
      let isUser = tag.hasPrefix("username:") && UserName.isValid(String(tag.dropFirst(9)))
      rules.require(isUser, "values", "must be named by username: and a name, not \(tag.quoted)")
      if isUser { rules.checkValues("values[\"\(tag)\"]", values) }
      // One fault of a kind says enough.
      if rules.faults.count > 20 { break }
    }
    return rules.faults
  }
}

extension UserAttributes {
  /// All that is wrong with them.
  package var faults: [ServiceError.Fault] {
    var rules = MessageRules(schemes: [])
    rules.checkValues(nil, values)
    return rules.faults
  }
}

extension NotificationMessage {
  /// Whether a text is a URL that begins with `https:`.
  static func isSecureURL(_ text: String) -> Bool {
    MessageRules.isURL(text) && text.lowercased().hasPrefix("https:")
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
    require(!text.utf8.contains(0), member, "must not hold a NUL character", .invalidRequest)
    require(text.utf8.count <= limit, member, "must have at most \(limit) bytes", code)
    checkPlaceholders(member, text)
  }

  /// A text of one line that is not empty.
  mutating func checkLine(_ member: String, _ text: String?, atMost limit: Int) {
    guard let text else { return }
    require(text.utf8.count <= limit, member, "must have at most \(limit) bytes")
    require(
      !text.unicodeScalars.contains {
        $0.properties.generalCategory == .control || $0 == "\u{2028}"
      },
      member, "must be one line, without control characters")
    require(text.contains { !$0.isWhitespace }, member, "must not be empty; leave it out")
    checkPlaceholders(member, text)
  }

  mutating func checkLink(_ member: String, _ link: String?) {
    guard let link else { return }
    require(
      link.utf8.count <= Self.longestLink, member, "must have at most \(Self.longestLink) bytes")
    let scheme = link.prefix { $0 != ":" }.lowercased()
    let allowed = ["https"] + schemes.sorted()
    checkPlaceholders(member, link)
    let template = PlaceholderText(link)
    require(
      Self.isURL(template.text(with: template.examples, in: .link)) && allowed.contains(scheme),
      member,
      "must be a URL that begins with \(allowed.map { $0 + ":" }.joined(separator: " or "))")
    let start = Self.startOfPath(link)
    let hasOthers =
      PlaceholderText(String(link[..<start])).hasPlaceholders
      || link.contains("#") && PlaceholderText(String(link.drop { $0 != "#" })).hasPlaceholders
    require(!hasOthers, member, "must have placeholders in its path or its query only")
  }

  /// Where the path or the query of a URL begins.
  private static func startOfPath(_ link: String) -> String.Index {
    guard let colon = link.firstIndex(of: ":") else { return link.endIndex }
    let rest = link[colon...].dropFirst()
    guard rest.hasPrefix("//") else { return rest.startIndex }
    return rest.dropFirst(2).firstIndex { "/?#".contains($0) } ?? link.endIndex
  }

  /// The texts in other languages: each has the rules of the message's own, which there must be.
  mutating func checkLanguages(of message: NotificationMessage) {
    if let language = message.language {
      require(LanguageTag.isValid(language), "language", "must be a language such as de or pt-BR")
    }
    guard let languages = message.languages else { return }
    let most = NotificationMessage.mostLanguages
    require(languages.count <= most, "languages", "must have at most \(most) languages")
    let tags = languages.keys.map { $0.lowercased() } + [message.language?.lowercased() ?? ""]
    require(
      Set(tags).count == tags.count, "languages",
      "must have each language once, and not that of the message")
    for (tag, texts) in languages.sorted(by: { $0.key < $1.key }).prefix(most) {
      let name = "languages.\(tag)"
      require(LanguageTag.isValid(tag), name, "must be named by a language such as de or pt-BR")
      checkText("\(name).message", texts.text, atMost: NotificationMessage.longestText, .tooLarge)
      checkLine("\(name).title", texts.title, atMost: 1024)
      checkLine("\(name).subtitle", texts.subtitle, atMost: 1024)
      checkText("\(name).alt", texts.alt, atMost: 1000)
      checkLink("\(name).link", texts.link)
      let missing = [
        ("message", texts.text != nil && message.text.isEmpty),
        ("title", texts.title != nil && message.title == nil),
        ("subtitle", texts.subtitle != nil && message.subtitle == nil),
        ("alt", texts.alt != nil && message.alt == nil),
        ("link", texts.link != nil && message.link == nil),
      ]
      for (member, isMissing) in missing {
        require(
          !isMissing, "\(name).\(member)", "must be left out: the message itself has no \(member)")
      }
      let labels = (texts.actions ?? [:]).sorted { $0.key < $1.key }
      for (id, label) in labels.prefix(NotificationMessage.mostActions + 1) {
        checkLine("\(name).actions.\(id)", label, atMost: 64)
        require(
          message.actions?.contains { $0.id == id } == true, "\(name).actions.\(id)",
          "must be the ID of a button")
      }
    }
  }

  /// Values of placeholders, in a member or in the body itself.
  mutating func checkValues(_ member: String?, _ values: [String: String]?) {
    guard let values else { return }
    let (most, longest) = (NotificationMessage.mostValues, NotificationMessage.longestValue)
    require(values.count <= most, member ?? "attributes", "must have at most \(most) values")
    for (name, value) in values.sorted(by: { $0.key < $1.key }).prefix(most) {
      let name = String(name.prefix(60))
      let path = member.map { "\($0).\(name)" } ?? name
      require(
        PlaceholderText.isName(name), path, "must be the name of a value: [a-z][A-Za-z0-9_]{0,31}")
      require(
        value.utf8.count <= longest && !value.utf8.contains(0), path,
        "must have at most \(longest) bytes, and no NUL character")
    }
  }

  mutating func checkPlaceholders(_ member: String, _ text: String) {
    let template = PlaceholderText(text)
    require(
      template.isValid, member,
      "must have {{ only in {{name}} and {{name|default}}; a literal one is {{{{",
      .invalidRequest)
    // Of the same name, too: thousands with long values would make a text of a megabyte.
    let most = NotificationMessage.mostPlaceholders
    require(template.count <= most, member, "must have at most \(most) placeholders")
  }

  mutating func checkIcon(_ icon: String?) {
    guard let icon else { return }
    require(
      icon.utf8.count <= Self.longestLink, "icon", "must have at most \(Self.longestLink) bytes")
    require(
      Self.isURL(icon) && icon.lowercased().hasPrefix("https:"), "icon",
      "must be a URL that begins with https:")
  }

  /// Whether every URL parser takes it as it is: no spaces, nothing but ASCII, and with `https` a host.
  fileprivate static func isURL(_ text: String) -> Bool {
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
        "must be none, default, or the name of a file of the app, such as chime.caf")
    case .critical(let volume):
      require((0...1).contains(volume), "sound.critical", "must be a volume from 0 to 1")
    }
  }

  mutating func check(data: JSONValue) {
    guard let members = data.members else {
      require(false, "data", "must be a JSON object", .invalidRequest)
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
    require(isFlat, "data", "must have at most two levels")
    require(JSONCoding.encode(data).count <= 1024, "data", "must have at most 1024 bytes")
  }

  mutating func check(_ actions: [MessageAction]) {
    let most = NotificationMessage.mostActions
    require(actions.count <= most, "actions", "must have at most \(most) buttons")
    var ids: Set<String> = []
    for (index, action) in actions.prefix(most).enumerated() {
      let name = "actions[\(index)]"
      let isID =
        (1...32).contains(action.id.utf8.count)
        && action.id.utf8.allSatisfy {
          (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
        }
      require(isID, "\(name).id", "must have from 1 to 32 lower-case letters, digits and hyphens")
      require(ids.insert(action.id).inserted, "\(name).id", "must not be that of an earlier button")
      checkLine("\(name).label", action.label, atMost: 64)
      checkLine("\(name).input", action.input, atMost: 64)
      checkLink("\(name).link", action.link)
      let kinds = [action.link != nil, action.input != nil, action.dismiss == true]
      require(
        kinds.count { $0 } <= 1, name, "must have at most one of link, input and dismiss")
    }
  }
}
