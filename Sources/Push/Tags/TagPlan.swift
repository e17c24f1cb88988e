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
    /// What it demands of a registration; `!` before a tag that this must not have.
    fileprivate var demands: [String] { with + without.map { "!" + $0 } }

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
  package init(_ expression: TagExpression) { self.init(expression.root) }

  /// Makes the clauses of an expression of any size.
  init(_ root: TagExpression.Node) {
    clauses = Self.clauses(of: root, negated: false)
      .sorted { $0.order.lexicographicallyPrecedes($1.order) }
  }

  private static func clauses(of node: TagExpression.Node, negated: Bool) -> Set<Clause> {
    var clauses: Set<Clause> = []
    add(node, negated: negated, to: &clauses)
    return reduced(clauses)
  }

  /// De Morgan moves negations down to the tags; products are multiplied out on the way up.
  private static func add(
    _ node: TagExpression.Node, negated: Bool, to clauses: inout Set<Clause>
  ) {
    switch (node, negated) {
    case (.tag(let tag), false): clauses.insert(Clause(with: [tag.name], without: []))
    case (.tag(let tag), true): clauses.insert(Clause(with: [], without: [tag.name]))
    case (.not(let node), _): add(node, negated: !negated, to: &clauses)
    case (.or(let left, let right), false), (.and(let left, let right), true):
      add(left, negated: negated, to: &clauses)
      add(right, negated: negated, to: &clauses)
    case (.and(let left, let right), false), (.or(let left, let right), true):
      let right = Self.clauses(of: right, negated: negated)
      for one in Self.clauses(of: left, negated: negated) {
        clauses.formUnion(right.compactMap { one.joined($0) })
      }
    }
  }

  /// The clauses that no other one covers.
  private static func reduced(_ clauses: Set<Clause>) -> Set<Clause> {
    // What covers a clause demands nothing else, so its first demand is one of the clause's.
    let byDemand = Dictionary(grouping: clauses) { $0.demands[0] }
    return clauses.filter { clause in
      !clause.demands.contains { demand in
        byDemand[demand, default: []].contains { $0 != clause && $0.covers(clause) }
      }
    }
  }
}
