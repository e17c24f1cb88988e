/// Finds the handler of a request in a table of routes, and the right answer when there is none.
///
/// HEAD is handled as GET, OPTIONS by the table itself. Where a literal segment and a parameter both
/// fit, the literal is taken.
package struct Router<Handler: Sendable>: Sendable {
  /// What the table says about a request.
  package enum Match: Sendable {
    /// The handler, what the parameters of its path are, and the path's pattern (for measurements).
    case found(Handler, parameters: [String], pattern: String)
    /// OPTIONS answered (204), an unknown path (404), or a method that the path does not have (405).
    case answered(Response)
  }

  private struct Node: Sendable {
    var literals: [(text: String, next: Int)] = []
    var parameter: Int?
    var handlers: [(method: String, handler: Handler, pattern: String)] = []
  }

  /// A tree of segments; the first node is the root.
  private var nodes = [Node()]

  /// A router for the routes; of two for the same method and path the first is taken.
  package init(_ routes: [Route<Handler>]) {
    for route in routes {
      let end = route.path.reduce(0) { node, segment in step(segment, from: node) }
      nodes[end].handlers.append((route.method, route.handler, route.pattern))
    }
  }

  /// Looks the request up by its method and path.
  package func match(_ request: Request) -> Match {
    var node = 0
    var parameters: [String] = []
    for segment in request.segments {
      if let literal = nodes[node].literals.first(where: { $0.text == segment }) {
        node = literal.next
      } else if let parameter = nodes[node].parameter, !segment.isEmpty {
        parameters.append(segment)
        node = parameter
      } else {
        return .answered(Self.unknown(request))
      }
    }
    let method = request.method == "HEAD" ? "GET" : request.method
    if let entry = nodes[node].handlers.first(where: { $0.method == method }) {
      return .found(entry.handler, parameters: parameters, pattern: entry.pattern)
    }
    return .answered(refusal(at: node, request))
  }

  private func refusal(at node: Int, _ request: Request) -> Response {
    if request.target == "*" { return .empty(204) }
    let methods = nodes[node].handlers.map(\.method)
    guard !methods.isEmpty else { return Self.unknown(request) }
    let allowed = Set(methods + (methods.contains("GET") ? ["HEAD"] : []) + ["OPTIONS"])
    let fields: Fields = ["Allow": allowed.sorted().joined(separator: ", ")]
    guard request.method != "OPTIONS" else { return .empty(204, fields: fields) }
    return .problem(
      405, "\(request.method) does not work here; Allow lists what does.", fields: fields)
  }

  private static func unknown(_ request: Request) -> Response {
    .problem(404, "There is nothing at this path.")
  }

  private mutating func step(_ segment: Route<Handler>.Segment, from node: Int) -> Int {
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
