/// An audience: tags joined by `||`, `&&`, `!` and parentheses, in Azure's grammar.
package struct TagExpression: Sendable, Hashable, CustomStringConvertible {
  /// A node of the expression's tree.
  package indirect enum Node: Sendable, Hashable {
    case tag(Tag)
    case not(Node)
    case and(Node, Node)
    case or(Node, Node)
  }

  /// The most tags in an expression that only knows `||`.
  package static let plainLimit = 20
  /// The most tags in an expression with `&&` or `!` in it.
  package static let mixedLimit = 6

  /// The expression as a tree.
  package let root: Node

  /// Reads an expression; the error says what is wrong and where.
  package init(_ text: String) throws(PushError) {
    var parser = TagParser(text)
    root = try parser.parse()
    try check()
  }

  /// Everybody who carries at least one of the tags.
  package init(anyOf tags: [Tag]) throws(PushError) {
    guard let first = tags.first else {
      throw PushError(.malformedTags, "An audience needs at least one tag.")
    }
    root = tags.dropFirst().reduce(.tag(first)) { .or($0, .tag($1)) }
    try check()
  }

  /// The devices of one user.
  package init(username: String) throws(PushError) {
    try self.init(anyOf: [.username(username)])
  }

  /// Whether a registration with these tags belongs to the audience.
  package func matches(_ tags: Set<String>) -> Bool {
    root.matches(tags)
  }

  /// The expression in its shortest spelling, as it goes into `ServiceBusNotification-Tags`.
  package var description: String { root.text(inside: .or) }

  private func check() throws(PushError) {
    let count = root.tagCount
    let limit = root.isPlain ? Self.plainLimit : Self.mixedLimit
    guard count > limit else { return }
    throw PushError(
      .malformedTags,
      "The tag expression has \(count) tags; \(limit) are allowed"
        + (root.isPlain ? "." : " when && or ! is used."))
  }
}

extension TagExpression.Node {
  fileprivate enum Strength: Int { case or, and, not }

  fileprivate func matches(_ tags: Set<String>) -> Bool {
    switch self {
    case .tag(let tag): tags.contains(tag.name)
    case .not(let node): !node.matches(tags)
    case .and(let left, let right): left.matches(tags) && right.matches(tags)
    case .or(let left, let right): left.matches(tags) || right.matches(tags)
    }
  }

  fileprivate var tagCount: Int {
    switch self {
    case .tag: 1
    case .not(let node): node.tagCount
    case .and(let left, let right), .or(let left, let right): left.tagCount + right.tagCount
    }
  }

  fileprivate var isPlain: Bool {
    switch self {
    case .tag: true
    case .not, .and: false
    case .or(let left, let right): left.isPlain && right.isPlain
    }
  }

  fileprivate func text(inside outer: Strength) -> String {
    let (own, text): (Strength, String) =
      switch self {
      case .tag(let tag): (.not, tag.name)
      case .not(let node): (.not, "!" + node.text(inside: .not))
      case .and(let left, let right):
        (.and, left.text(inside: .and) + " && " + right.text(inside: .and))
      case .or(let left, let right):
        (.or, left.text(inside: .or) + " || " + right.text(inside: .or))
      }
    return own.rawValue < outer.rawValue ? "(" + text + ")" : text
  }
}
