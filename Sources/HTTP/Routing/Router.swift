/// A segment of a route's path: literal text, or a parameter that any non-empty segment matches.
package enum RouteSegment: Sendable, Equatable, ExpressibleByStringLiteral {
  case literal(String)
  case parameter

  package init(stringLiteral text: String) { self = .literal(text) }
}

/// A method, a path and what handles them.
package struct Route<Handler: Sendable>: Sendable {
  let method: String
  let path: [RouteSegment]
  let handler: Handler

  /// A route, such as `Route("GET", "api", "notifications", .parameter, handler: fetch)`.
  package init(_ method: String, _ path: RouteSegment..., handler: Handler) {
    (self.method, self.path, self.handler) = (method, path, handler)
  }

  /// The path as text, such as "/api/notifications/{}".
  var pattern: String {
    path.reduce(into: "") { text, segment in
      switch segment {
      case .literal(let literal): text += "/\(literal)"
      case .parameter: text += "/{}"
      }
    }
  }
}

/// Finds the handler of a request in a table of routes, or the response if there is none.
///
/// HEAD is handled as GET, OPTIONS by the router itself. A literal segment precedes a parameter.
package struct Router<Handler: Sendable>: Sendable {
  /// The result of a look-up.
  package enum Match: Sendable {
    /// The handler, its path's parameters, and the path's pattern (for metrics).
    case found(Handler, parameters: [String], pattern: String)
    /// An OPTIONS (204), an unknown path (404), or a method that the path does not have (405).
    case answered(Response)
  }

  @usableFromInline var tree = RouteTree()
  @usableFromInline let routes: [(handler: Handler, pattern: String)]

  /// A router for the routes; of two for the same method and path, the first is used.
  package init(_ routes: [Route<Handler>]) {
    self.routes = routes.map { ($0.handler, $0.pattern) }
    for (index, route) in routes.enumerated() {
      tree.insert(route.method, route.path, index: index)
    }
  }

  /// Looks the request up by its method and path.
  // Inlinable, so that `Handler` is a known type in the module that calls it for each request.
  @inlinable package func match(_ request: Request) -> Match {
    if request.target == "*" { return .answered(.empty(204)) }
    guard let (ends, parameters) = tree.find(request.segments) else {
      return .answered(.problem(404, "No such path."))
    }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let index = ends.first(where: { $0.method == method })?.index else {
      return .answered(Self.methodNotAllowed(request, allowed: ends.map(\.method)))
    }
    return .found(
      routes[index].handler, parameters: parameters, pattern: routes[index].pattern)
  }

  /// The pattern of the request's path, such as "/api/notifications/{}"; nil if it is unknown.
  package func pattern(of request: Request) -> String? {
    tree.find(request.segments)?.routes.first.map { routes[$0.index].pattern }
  }

  @usableFromInline static func methodNotAllowed(
    _ request: Request, allowed known: [String]
  ) -> Response {
    let allowed = Set(known + (known.contains("GET") ? ["HEAD"] : []) + ["OPTIONS"])
    let fields: Fields = ["Allow": allowed.sorted().joined(separator: ", ")]
    guard request.method != "OPTIONS" else { return .empty(204, fields: fields) }
    return .problem(
      405, "\(request.method) does not work here; Allow lists what does.", fields: fields)
  }
}

/// The paths of a table of routes as a tree of segments; the first node is the root.
@usableFromInline struct RouteTree: Sendable {
  /// A route, by its index in the table.
  @usableFromInline typealias End = (method: String, index: Int)

  private struct Node: Sendable {
    var literals: [(text: String, next: Int)] = []
    var parameter: Int?
    var routes: [End] = []
  }

  private var nodes = [Node()]

  mutating func insert(_ method: String, _ path: [RouteSegment], index: Int) {
    let end = path.reduce(0) { node, segment in child(segment, of: node) }
    nodes[end].routes.append((method, index))
  }

  /// The routes of a path and the path's parameters; nil if no route ends there.
  @usableFromInline func find(_ segments: [String]) -> (routes: [End], parameters: [String])? {
    var node = 0
    var parameters: [String] = []
    for segment in segments {
      // A scan: a node has a few literals, fewer than would pay for hashing the segment.
      if let literal = nodes[node].literals.first(where: { $0.text == segment }) {
        node = literal.next
      } else if let parameter = nodes[node].parameter, !segment.isEmpty {
        parameters.append(segment)
        node = parameter
      } else {
        return nil
      }
    }
    return nodes[node].routes.isEmpty ? nil : (nodes[node].routes, parameters)
  }

  /// The child for a segment, added if there is none.
  private mutating func child(_ segment: RouteSegment, of node: Int) -> Int {
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
