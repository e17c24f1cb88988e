/// A tag expression as a union of simple look-ups, so that a database can answer it by index.
///
/// A registration is in the audience when it satisfies at least one clause. Each clause starts
/// from the registrations of one of its `with` tags, so the cost grows with those that match.
/// A clause without `with` (from `!a`) can only start from all registrations.
package struct TagPlan: Sendable, Hashable {
  /// Registrations that carry every tag of `with` and none of `without`; both sorted.
  package struct Clause: Sendable, Hashable {
    package let with: [String]
    package let without: [String]

    fileprivate var order: [String] { with + ["!"] + without }
  }

  /// No clause at all: nobody matches (`a && !a`).
  package let clauses: [Clause]

  /// The shortest union found: contradictions and clauses that others cover are gone.
  package init(_ expression: TagExpression) {
    clauses = Self.terms(of: expression.root, negated: false)
      .map { Clause(with: $0.with.sorted(), without: $0.without.sorted()) }
      .sorted { $0.order.lexicographicallyPrecedes($1.order) }
  }

  private struct Term: Hashable {
    var with: Set<String> = []
    var without: Set<String> = []

    var isPossible: Bool { with.isDisjoint(with: without) }

    func joined(_ other: Term) -> Term {
      Term(with: with.union(other.with), without: without.union(other.without))
    }

    func covers(_ other: Term) -> Bool {
      with.isSubset(of: other.with) && without.isSubset(of: other.without)
    }
  }

  /// De Morgan pushes negations down to the tags; products are multiplied out on the way up.
  private static func terms(of node: TagExpression.Node, negated: Bool) -> Set<Term> {
    switch (node, negated) {
    case (.tag(let tag), false): [Term(with: [tag.name])]
    case (.tag(let tag), true): [Term(without: [tag.name])]
    case (.not(let node), _): terms(of: node, negated: !negated)
    case (.or(let left, let right), false), (.and(let left, let right), true):
      reduced(terms(of: left, negated: negated).union(terms(of: right, negated: negated)))
    case (.and(let left, let right), false), (.or(let left, let right), true):
      product(terms(of: left, negated: negated), terms(of: right, negated: negated))
    }
  }

  private static func product(_ left: Set<Term>, _ right: Set<Term>) -> Set<Term> {
    var terms: Set<Term> = []
    for one in left { for other in right { terms.insert(one.joined(other)) } }
    return reduced(terms.filter(\.isPossible))
  }

  private static func reduced(_ terms: Set<Term>) -> Set<Term> {
    terms.filter { term in !terms.contains { $0 != term && $0.covers(term) } }
  }
}
