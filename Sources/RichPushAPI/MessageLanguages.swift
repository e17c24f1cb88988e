/// The texts of a message in another language; a member that is nil is the message's own.
public struct MessageTranslation: Sendable, Equatable {
  /// The text, `message` in JSON.
  public var text: String?
  /// One line above the text.
  public var title: String?
  /// One line between title and text.
  public var subtitle: String?
  /// What the media shows.
  public var alt: String?
  /// Where a tap leads.
  public var link: String?
  /// What is on the buttons, by their IDs.
  public var actions: [String: String]?

  /// Creates a translation; the other members can be set afterwards.
  public init(_ text: String? = nil) { self.text = text }
}

extension MessageTranslation: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case text = "message"
    case title, subtitle, alt, link, actions
  }

  /// Decodes the members that are there.
  ///
  /// - Throws: a `ServiceError` with a fault for each that has the wrong type, and in a request for each that is
  ///   unknown.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    try reader.requireKnown(decoder)
    (text, title, subtitle) = (reader.read(.text), reader.read(.title), reader.read(.subtitle))
    (alt, link, actions) = (reader.read(.alt), reader.read(.link), reader.read(.actions))
    try reader.throwFaults()
  }
}

extension NotificationMessage {
  /// The most languages beside the message's own.
  package static let mostLanguages = 16

  /// The message for who prefers some languages, the best first: each text in the first of them that there is
  /// (RFC 4647, section 3.4), or as it is.
  ///
  /// `language` of the result is that of its text, or without one of its title; it has no other languages.
  package func localized(for ranges: [String]) -> NotificationMessage {
    guard let languages, !languages.isEmpty else { return self }
    var message = self
    message.languages = nil
    let tags = languages.keys.sorted()
    /// The best of a member's texts, and the tag of its language.
    func best(
      _ own: String, _ member: (MessageTranslation) -> String?
    ) -> (text: String, tag: String?) {
      let known = tags.filter { languages[$0].flatMap(member) != nil }
      let tag = LanguageTag.lookup(ranges, among: known + [language].compactMap(\.self))
      return (tag.flatMap { languages[$0].flatMap(member) } ?? own, tag ?? language)
    }
    let text = best(self.text, \.text)
    let title = self.title.map { best($0, \.title) }
    (message.text, message.title) = (text.text, title?.text)
    message.subtitle = subtitle.map { best($0, \.subtitle).text }
    message.alt = alt.map { best($0, \.alt).text }
    message.link = link.map { best($0, \.link).text }
    message.actions = actions?.map { action in
      var action = action
      action.label = best(action.label) { $0.actions?[action.id] }.text
      return action
    }
    message.language = self.text.isEmpty ? title?.tag ?? language : text.tag
    return message
  }

  /// All variants of the message, by language: its own first.
  package var localizations: [NotificationMessage] {
    [localized(for: language.map { [$0] } ?? [])]
      + (languages ?? [:]).keys.sorted().map { localized(for: [$0]) }
  }
}

/// The name of a language (BCP 47), such as `de-CH`.
package enum LanguageTag {
  /// The longest, in bytes.
  static let longest = 35

  /// Whether it is well-formed: subtags of letters and digits, the first of 2 to 8 letters.
  package static func isValid(_ tag: String) -> Bool {
    guard tag.utf8.count <= longest else { return false }
    let subtags = tag.utf8.split(separator: 0x2D, omittingEmptySubsequences: false)
    func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    guard let first = subtags.first, (2...8).contains(first.count), first.allSatisfy(isLetter)
    else { return false }
    return subtags.dropFirst().allSatisfy { subtag in
      (1...8).contains(subtag.count)
        && subtag.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
    } && subtags.last?.count != 1
  }

  /// The tag that language ranges, the best first, select (RFC 4647, section 3.4); nil for none.
  package static func lookup(_ ranges: [String], among tags: [String]) -> String? {
    guard !tags.isEmpty else { return nil }
    let known = Dictionary(tags.map { ($0.lowercased(), $0) }) { first, _ in first }
    for range in ranges {
      var subtags = range.lowercased().split(separator: "-")
      while !subtags.isEmpty {
        if let tag = known[subtags.joined(separator: "-")] { return tag }
        subtags.removeLast()
        // A subtag that only introduces others.
        if subtags.last?.utf8.count == 1 { subtags.removeLast() }
      }
    }
    return nil
  }

  /// The ranges of an `Accept-Language` field (RFC 9110, section 12.5.4), the best first; at most 16.
  package static func ranges(of field: String?) -> [String] {
    guard let field else { return [] }
    let weighted = field.utf8.prefix(1024).split(separator: 0x2C).compactMap {
      item -> (String, Double)? in
      let parts = item.split(separator: 0x3B).map {
        String(Substring($0)).filter { $0 != " " && $0 != "\t" }
      }
      guard let range = parts.first, isValid(range) else { return nil }
      let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }.map {
        $0.dropFirst(2)
      }
      let quality = weight.map { Double($0) ?? 0 } ?? 1
      return quality > 0 ? (range, quality) : nil
    }
    // Equal ones keep their order.
    let sorted = weighted.enumerated().sorted {
      ($1.element.1, $0.offset) < ($0.element.1, $1.offset)
    }
    return sorted.prefix(16).map(\.element.0)
  }
}
