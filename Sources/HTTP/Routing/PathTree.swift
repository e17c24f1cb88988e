/// The paths of a table of routes as a tree of segments; the first node is the root.
@usableFromInline struct PathTree: Sendable {
  private struct Node: Sendable {
    var literals: [(text: String, next: Int)] = []
    var parameter: Int?
    /// The routes that end here, by their place in the table.
    var routes: [(method: String, index: Int)] = []
  }

  private var nodes = [Node()]

  mutating func insert(_ method: String, _ path: [RouteSegment], index: Int) {
    let end = path.reduce(0) { node, segment in step(segment, from: node) }
    nodes[end].routes.append((method, index))
  }

  /// The node that a path leads to and what its parameters are; nil for an unknown path.
  @usableFromInline func walk(_ segments: [String]) -> (node: Int, parameters: [String])? {
    var node = 0
    var parameters: [String] = []
    for segment in segments {
      if let literal = nodes[node].literals.first(where: { $0.text == segment }) {
        node = literal.next
      } else if let parameter = nodes[node].parameter, !segment.isEmpty {
        parameters.append(segment)
        node = parameter
      } else {
        return nil
      }
    }
    return nodes[node].routes.isEmpty ? nil : (node, parameters)
  }

  @usableFromInline func route(at node: Int, _ method: String) -> Int? {
    nodes[node].routes.first { $0.method == method }?.index
  }

  func anyRoute(at node: Int) -> Int? { nodes[node].routes.first?.index }

  @usableFromInline func methods(at node: Int) -> [String] { nodes[node].routes.map(\.method) }

  private mutating func step(_ segment: RouteSegment, from node: Int) -> Int {
    switch segment {
    case .literal(let text):
      if let known = nodes[node].literals.first(where: { $0.text == text }) { return known.next }
      nodes[node].literals.append((text, nodes.count))
    case .parameter:
      if let known = nodes[node].parameter { return known }
      nodes[node].parameter = nodes.count
    }
    nodes.append(Node())
    return nodes.count - 1
  }
}
