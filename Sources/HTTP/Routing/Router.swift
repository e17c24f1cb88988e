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

  @usableFromInline var tree = PathTree()
  @usableFromInline let places: [(handler: Handler, pattern: String)]

  /// A router for the routes; of two for the same method and path the first is taken.
  package init(_ routes: [Route<Handler>]) {
    places = routes.map { ($0.handler, $0.pattern) }
    for (index, route) in routes.enumerated() {
      tree.insert(route.method, route.path, index: index)
    }
  }

  /// Looks the request up by its method and path.
  // Inlined where it is used, so that `Handler` is a known type on the hot path.
  @inlinable package func match(_ request: Request) -> Match {
    if request.target == "*" { return .answered(.empty(204)) }
    guard let (node, parameters) = tree.walk(request.segments) else {
      return .answered(.problem(404, "There is nothing at this path."))
    }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let index = tree.route(at: node, method) else {
      return .answered(Self.refusal(of: request, known: tree.methods(at: node)))
    }
    return .found(
      places[index].handler, parameters: parameters, pattern: places[index].pattern)
  }

  /// The pattern of the path that the request is for, such as "/api/notifications/{}"; nil when
  /// there is none such.
  package func pattern(of request: Request) -> String? {
    tree.walk(request.segments).flatMap { tree.anyRoute(at: $0.node) }.map { places[$0].pattern }
  }

  @usableFromInline static func refusal(of request: Request, known: [String]) -> Response {
    let allowed = Set(known + (known.contains("GET") ? ["HEAD"] : []) + ["OPTIONS"])
    let fields: Fields = ["Allow": allowed.sorted().joined(separator: ", ")]
    guard request.method != "OPTIONS" else { return .empty(204, fields: fields) }
    return .problem(
      405, "\(request.method) does not work here; Allow lists what does.", fields: fields)
  }
}
