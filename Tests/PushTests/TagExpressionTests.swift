import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct TagExpressionTests {
  @Test(arguments: [
    ("a", ["a"], true),
    ("a", ["b"], false),
    ("a || b", ["b"], true),
    ("a && b", ["b"], false),
    ("a&&b", ["a", "b"], true),
    ("!a", [], true),
    ("!!a", ["a"], true),
    ("a || b && c", ["a"], true),
    ("(a || b) && c", ["a"], false),
    ("!a && b || c", ["a", "b"], false),
    ("!(a && b)", ["a"], true),
    ("username:alice && !mobile-app_v1.2#beta@x", ["username:alice"], true),
    ("$UserId:{alice}", ["$UserId:{alice}"], true),
    ("  ( följ_RedSox )  ", ["följ_RedSox"], true),
  ])
  func `follows the precedence of not, and, or`(text: String, tags: [String], expected: Bool)
    throws
  {
    let expression = try TagExpression(text)
    #expect(expression.matches(Set(tags)) == expected)
    #expect(try TagExpression(expression.description) == expression)
  }

  @Test(arguments: [
    ("", "ends where a tag is expected (character 1)"),
    ("a b", "has \"b\" where &&, || or the end is expected (character 3)"),
    ("a &", "has \"&\" where &&, || or the end is expected (character 3)"),
    ("a ||", "ends where a tag is expected (character 5)"),
    ("(a", "a closing parenthesis"),
    ("a)", "has \")\" where &&, || or the end is expected (character 2)"),
    ("a,b", "has \",\" where &&, || or the end is expected (character 2)"),
    ("${x}", "is not a tag"),
    ("a'; DROP TABLE tags", "(character 2)"),
    (String(repeating: "x", count: 121), "is not a tag"),
    (String(repeating: "(", count: 4000), "deeper than 32"),
    (String(repeating: "!", count: 4000), "deeper than 32"),
    (String(repeating: "a", count: 9000), "longer than 4096"),
  ])
  func `says what is wrong and where`(text: String, reason: String) {
    #expect {
      try TagExpression(text)
    } throws: { error in
      (error as? PushError)?.code == .malformedTags && "\(error)".contains(reason)
    }
  }

  @Test func `allows twenty tags with or, six when mixed`() throws {
    let names = (1...21).map { "t\($0)" }
    _ = try TagExpression(names.prefix(20).joined(separator: "||"))
    _ = try TagExpression("!t1&&" + names.prefix(5).joined(separator: "||"))
    #expect(throws: PushError.self) { try TagExpression(names.joined(separator: "||")) }
    #expect(throws: PushError.self) {
      try TagExpression(names.prefix(7).joined(separator: "&&"))
    }
    #expect(throws: PushError.self) {
      try TagExpression("!t1||" + names.prefix(6).joined(separator: "||"))
    }
  }

  @Test(arguments: ["||", "&&"])
  func `refuses very many tags at once`(_ joint: String) {
    let text = Array(repeating: "a", count: 1300).joined(separator: joint)
    let error = #expect(throws: PushError.self) { try TagExpression(text) }
    #expect(error?.reason.contains("has 1300 tags") == true)
  }

  @Test func `refuses a list of very many tags`() throws {
    let tags = Array(repeating: try Tag("a"), count: 1_000_000)
    let error = #expect(throws: PushError.self) { try TagExpression(anyOf: tags) }
    #expect(error?.reason.contains("has 1000000 tags; 20 are allowed.") == true)
  }

  @Test func `knows which tags only the server may give`() throws {
    #expect(try Tag.username("alice").name == "username:alice")
    #expect(try Tag("username:bob").isReserved)
    #expect(try Tag("from:bob").isReserved)
    #expect(try Tag("$InstallationId:{1-2}").isReserved)
    #expect(try !Tag("news").isReserved)
    #expect(throws: PushError.self) { try Tag.username("alice || bob") }
  }
}

extension TagExpression {
  /// Whether a registration with these tags belongs to the audience, by the definition of the operators.
  func matches(_ tags: Set<String>) -> Bool { root.matches(tags) }
}

extension TagExpression.Node {
  fileprivate func matches(_ tags: Set<String>) -> Bool {
    switch self {
    case .tag(let tag): tags.contains(tag.name)
    case .not(let node): !node.matches(tags)
    case .and(let left, let right): left.matches(tags) && right.matches(tags)
    case .or(let left, let right): left.matches(tags) || right.matches(tags)
    }
  }
}
