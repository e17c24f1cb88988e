/// An audience: tags joined by `||`, `&&`, `!` and parentheses.
///
/// The grammar and the limits are those of Azure Notification Hubs (learn.microsoft.com, "Routing and tag
/// expressions").
package struct TagExpression: Sendable, Hashable, CustomStringConvertible {
  /// A node of the expression's tree.
  package indirect enum Node: Sendable, Hashable {
    case tag(Tag)
    case not(Node)
    case and(Node, Node)
    case or(Node, Node)
  }

  /// The most tags in an expression with `||` only.
  package static let plainLimit = 20
  /// The most tags in an expression with `&&` or `!` in it.
  package static let mixedLimit = 6

  /// The expression as a tree.
  package let root: Node

  /// Parses an expression; the error says what is wrong and where.
  package init(_ text: String) throws(PushError) {
    var parser = TagParser(text)
    root = try parser.parse()
    let (count, isPlain) = root.size
    try Self.check(count, isPlain: isPlain)
  }

  /// Matches devices with at least one of the tags.
  package init(anyOf tags: [Tag]) throws(PushError) {
    guard let first = tags.first else {
      throw PushError(.malformedTags, "An audience needs at least one tag.")
    }
    // First: the tree is as deep as they are many.
    try Self.check(tags.count, isPlain: true)
    root = tags.dropFirst().reduce(.tag(first)) { .or($0, .tag($1)) }
  }

  /// The expression in its shortest spelling, as it goes into `ServiceBusNotification-Tags`.
  package var description: String { root.text(inside: .or) }

  /// All tags in it.
  package var tags: [Tag] { root.tags }

  private static func check(_ count: Int, isPlain: Bool) throws(PushError) {
    let limit = isPlain ? plainLimit : mixedLimit
    guard count > limit else { return }
    throw PushError(
      .malformedTags,
      "The tag expression has \(count) tags; \(limit) are allowed"
        + (isPlain ? "." : " when && or ! is used."))
  }
}

extension TagExpression.Node {
  fileprivate enum Strength: Int { case or, and, not }

  /// The number of tags, and whether `||` is the only operator.
  fileprivate var size: (tags: Int, isPlain: Bool) {
    switch self {
    case .tag: return (1, true)
    case .not(let node): return (node.size.tags, false)
    case .and(let left, let right): return (left.size.tags + right.size.tags, false)
    case .or(let left, let right):
      // Each once: twice at each node would take time that doubles with each tag.
      let (left, right) = (left.size, right.size)
      return (left.tags + right.tags, left.isPlain && right.isPlain)
    }
  }

  fileprivate var tags: [Tag] {
    switch self {
    case .tag(let tag): [tag]
    case .not(let node): node.tags
    case .and(let left, let right), .or(let left, let right): left.tags + right.tags
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

/// Parses a tag expression by recursive descent: `!` binds tightest, then `&&`, then `||`.
private struct TagParser {
  /// The most characters of an expression: 20 tags of full length with operators between them.
  private static let maximumLength = 4096
  /// The deepest nesting of parentheses and negations, so that no input can exhaust the stack.
  private static let maximumDepth = 32

  private let text: [Character]
  private var position = 0

  init(_ text: String) { self.text = Array(text.prefix(Self.maximumLength + 1)) }

  mutating func parse() throws(PushError) -> TagExpression.Node {
    guard text.count <= Self.maximumLength else {
      throw PushError(
        .malformedTags, "The tag expression is longer than \(Self.maximumLength) characters.")
    }
    let node = try disjunction(depth: 0)
    skipSpaces()
    guard position == text.count else { throw unexpected("&&, || or the end") }
    return node
  }

  private mutating func disjunction(depth: Int) throws(PushError) -> TagExpression.Node {
    var node = try conjunction(depth: depth)
    while take("||") { node = .or(node, try conjunction(depth: depth)) }
    return node
  }

  private mutating func conjunction(depth: Int) throws(PushError) -> TagExpression.Node {
    var node = try operand(depth: depth)
    while take("&&") { node = .and(node, try operand(depth: depth)) }
    return node
  }

  private mutating func operand(depth: Int) throws(PushError) -> TagExpression.Node {
    guard depth < Self.maximumDepth else {
      throw PushError(
        .malformedTags, "The tag expression nests deeper than \(Self.maximumDepth) levels.")
    }
    if take("!") { return .not(try operand(depth: depth + 1)) }
    if take("(") {
      let node = try disjunction(depth: depth + 1)
      guard take(")") else { throw unexpected("a closing parenthesis") }
      return node
    }
    return .tag(try tag())
  }

  private mutating func tag() throws(PushError) -> Tag {
    skipSpaces()
    let start = position
    while position < text.count, Tag.isPlain(text[position]) || "${}".contains(text[position]) {
      position += 1
    }
    guard position > start else { throw unexpected("a tag") }
    return try Tag(String(text[start..<position]))
  }

  private mutating func take(_ token: String) -> Bool {
    skipSpaces()
    guard text[position...].starts(with: token) else { return false }
    position += token.count
    return true
  }

  private mutating func skipSpaces() {
    while position < text.count, text[position].isWhitespace { position += 1 }
  }

  private func unexpected(_ expected: String) -> PushError {
    let found = position < text.count ? "has \"\(text[position])\"" : "ends"
    return PushError(
      .malformedTags,
      "The tag expression \(found) where \(expected) is expected (character \(position + 1)).")
  }
}

/// A label on a registration, in the spelling of Azure Notification Hubs.
package struct Tag: Sendable, Hashable {
  /// The most characters of a tag.
  package static let limit = 120

  package let name: String

  /// Checks the spelling: letters, digits and `_ - @ # . :`, or `$InstallationId:{…}` and
  /// `$UserId:{…}`.
  package init(_ name: String) throws(PushError) {
    // One character may have any number of accents.
    guard !name.isEmpty, name.unicodeScalars.count <= Self.limit,
      name.allSatisfy(Self.isPlain) || Self.isReserved(name)
    else {
      throw PushError(
        .malformedTags,
        "\"\(name.prefix(Self.limit))\" is not a tag: up to \(Self.limit) letters, digits "
          + "and _ - @ # . : are allowed.")
    }
    self.name = name
  }

  /// The tag on every registration of a user; only the server sets it.
  package static func username(_ user: String) throws(PushError) -> Tag {
    try Tag(userPrefix + user)
  }

  /// Whether only the server may put this tag on a registration.
  package var isReserved: Bool {
    name.hasPrefix(Self.userPrefix) || name.hasPrefix("from:") || name.hasPrefix("$") || isAudience
  }

  /// Whether it stands for an audience that the server finds, and belongs to no registration.
  package var isAudience: Bool { Self.audiences.contains(where: name.hasPrefix) }

  /// The beginnings of tags that stand for such audiences.
  private static let audiences = ["segment:", "opened:", "notOpened:"]

  static func isPlain(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "_-@#.:".contains(character)
  }

  private static let userPrefix = "username:"

  private static func isReserved(_ name: String) -> Bool {
    for prefix in ["$InstallationId:{", "$UserId:{"] where name.hasPrefix(prefix) {
      let inner = name.dropFirst(prefix.count)
      return inner.last == "}" && inner.count > 1 && inner.dropLast().allSatisfy(isPlain)
    }
    return false
  }
}
