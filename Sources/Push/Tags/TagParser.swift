/// Reads a tag expression by recursive descent: `!` binds tightest, then `&&`, then `||`.
struct TagParser {
  /// The most characters of an expression: 20 tags of full length with operators between them.
  private static let longest = 4096
  /// How deep parentheses and negations may nest, so that no input can exhaust the stack.
  private static let deepest = 32

  private let text: [Character]
  private var position = 0

  init(_ text: String) {
    self.text = Array(text.prefix(Self.longest + 1))
  }

  mutating func parse() throws(PushError) -> TagExpression.Node {
    guard text.count <= Self.longest else {
      throw PushError(
        .malformedTags, "The tag expression is longer than \(Self.longest) characters.")
    }
    let node = try disjunction(depth: 0)
    skipSpaces()
    guard position == text.count else { throw unexpected("&& or || or the end") }
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
    guard depth < Self.deepest else {
      throw PushError(
        .malformedTags, "The tag expression nests deeper than \(Self.deepest) levels.")
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
    let found = position < text.count ? "\"\(text[position])\"" : "the end"
    return PushError(
      .malformedTags,
      "The tag expression has \(found) at character \(position + 1) where \(expected) was expected."
    )
  }
}
