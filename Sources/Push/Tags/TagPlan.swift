/// A tag expression as a union of clauses (disjunctive normal form), which a database answers by index.
///
/// A registration is in the audience if it matches at least one clause. Each clause starts from the
/// registrations of one of its `with` tags, so the cost grows with the number of matches. A clause without
/// `with` (from `!a`) can only start from all registrations.
package struct TagPlan: Sendable, Hashable {
  /// Matches registrations with every tag of `with` and none of `without`; both sorted.
  package struct Clause: Sendable, Hashable {
    package let with: [String]
    package let without: [String]

    fileprivate var order: [String] { with + ["!"] + without }

    /// The clause that demands both; nil if it can never match.
    fileprivate func joined(_ other: Clause) -> Clause? {
      let (with, without) = (Set(with + other.with), Set(without + other.without))
      guard with.isDisjoint(with: without) else { return nil }
      return Clause(with: with.sorted(), without: without.sorted())
    }

    /// Whether every device that matches `other` matches this.
    fileprivate func covers(_ other: Clause) -> Bool {
      Set(with).isSubset(of: other.with) && Set(without).isSubset(of: other.without)
    }
  }

  /// The clauses; empty if no device can match (`a && !a`).
  package let clauses: [Clause]

  /// Makes the clauses, without contradictory and redundant ones.
  package init(_ expression: TagExpression) {
    clauses = Self.clauses(of: expression.root, negated: false)
      .sorted { $0.order.lexicographicallyPrecedes($1.order) }
  }

  /// De Morgan moves negations down to the tags; products are multiplied out on the way up.
  private static func clauses(of node: TagExpression.Node, negated: Bool) -> Set<Clause> {
    switch (node, negated) {
    case (.tag(let tag), false): [Clause(with: [tag.name], without: [])]
    case (.tag(let tag), true): [Clause(with: [], without: [tag.name])]
    case (.not(let node), _): clauses(of: node, negated: !negated)
    case (.or(let left, let right), false), (.and(let left, let right), true):
      reduced(clauses(of: left, negated: negated).union(clauses(of: right, negated: negated)))
    case (.and(let left, let right), false), (.or(let left, let right), true):
      product(clauses(of: left, negated: negated), clauses(of: right, negated: negated))
    }
  }

  private static func product(_ left: Set<Clause>, _ right: Set<Clause>) -> Set<Clause> {
    reduced(Set(left.flatMap { one in right.compactMap { one.joined($0) } }))
  }

  private static func reduced(_ clauses: Set<Clause>) -> Set<Clause> {
    clauses.filter { clause in !clauses.contains { $0 != clause && $0.covers(clause) } }
  }
}
