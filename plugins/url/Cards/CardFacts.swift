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
