import Glibc
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct TagPlanTests {
  @Test(arguments: [
    ("a", ["a -"]),
    ("a || b || a", ["a -", "b -"]),
    ("a && b", ["a,b -"]),
    ("a && !b", ["a - b"]),
    ("!a", ["- a"]),
    ("a && !a", []),
    ("a || a && b", ["a -"]),
    ("(a || b) && (c || d)", ["a,c -", "a,d -", "b,c -", "b,d -"]),
    ("!(a && b)", ["- a", "- b"]),
    ("!(a || !b)", ["b - a"]),
  ])
  func `multiplies an expression out into look-ups`(text: String, expected: [String]) throws {
    let clauses = TagPlan(try TagExpression(text)).clauses.map {
      [$0.with.joined(separator: ","), "-", $0.without.joined(separator: ",")]
        .filter { !$0.isEmpty }.joined(separator: " ")
    }
    #expect(Set(clauses) == Set(expected))
    #expect(clauses.count == expected.count)
  }

  @Test func `agrees with the expression on every set of tags`() throws {
    var random = Seeded(state: 6)
    for _ in 0..<300 {
      let expression = try TagExpression(Self.expression(tags: 6, random: &random))
      let plan = TagPlan(expression)
      for bits in 0..<16 {
        let tags = Set((0..<4).filter { bits >> $0 & 1 == 1 }.map { "t\($0)" })
        let isPlanned = plan.clauses.contains {
          tags.isSuperset(of: $0.with) && tags.isDisjoint(with: $0.without)
        }
        #expect(isPlanned == expression.matches(tags), "\(expression) with \(tags)")
      }
    }
  }

  @Test func `takes time in proportion to the tags of a union`() throws {
    let (few, many) = (try Self.duration(ofUnion: 250), try Self.duration(ofUnion: 4000))
    // 16 times as many; the square of it would be 256.
    #expect(many < few * 64, "\(many) and \(few)")
  }

  /// The least processor time of some attempts, in nanoseconds; what else the machine does is not in it.
  private static func duration(ofUnion count: Int) throws -> Int {
    let tags = try (0..<count).map { TagExpression.Node.tag(try Tag("username:u\($0)")) }
    let root = tags[1...].reduce(tags[0]) { .or($0, $1) }
    let durations = (0..<5).map { _ in
      let start = processorTime
      #expect(TagPlan(root).clauses.count == count)
      return processorTime - start
    }
    return try #require(durations.min())
  }

  private static var processorTime: Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  private static func expression(tags: Int, random: inout Seeded) -> String {
    guard tags > 1 else { return "t\(Int.random(in: 0..<4, using: &random))" }
    let left = Int.random(in: 1..<tags, using: &random)
    let parts = [left, tags - left].map { expression(tags: $0, random: &random) }
    let joined = "(\(parts[0]) \(Bool.random(using: &random) ? "&&" : "||") \(parts[1]))"
    return Bool.random(using: &random) ? "!" + joined : joined
  }
}

/// A generator that gives the same numbers in every run (SplitMix64).
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}
