import FoundationEssentials
import PluginKit

/// What a phone is told about a link; members that are not known are left out.
struct Card: Encodable {
  /// The link in ASCII, ready to be opened.
  let url: String
  /// The host as DNS knows it.
  let host: String
  /// The host as a reader sees it, where that differs.
  let displayHost: String?
  var title: String?
  var description: String?

  init(_ link: Link, _ source: LinkSource) {
    url = link.url
    host = link.host.ascii
    displayHost = link.host.unicode == link.host.ascii ? nil : link.host.unicode
    title = source.title
    description = source.description
  }
}

/// What the publisher is told: the card, the type that will be sent, and what to think about.
struct CardFacts: Encodable {
  let card: Card
  let advice: [String]

  private enum Key: CodingKey {
    case contentType, advice
  }

  func encode(to encoder: any Encoder) throws {
    try card.encode(to: encoder)
    var members = encoder.container(keyedBy: Key.self)
    try members.encode("application/json", forKey: .contentType)
    if !advice.isEmpty { try members.encode(advice, forKey: .advice) }
  }
}

extension PluginResponse {
  /// Answers with a value as JSON, its members in the order of their names.
  static func json(_ value: some Encodable) throws -> PluginResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try .json(String(decoding: encoder.encode(value), as: UTF8.self))
  }
}
