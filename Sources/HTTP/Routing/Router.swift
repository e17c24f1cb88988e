/// Finds the handler of a request in a table of routes, and the right answer when there is none.
///
/// HEAD is handled as GET, OPTIONS by the table itself. Where a literal segment and a parameter both
/// fit, the literal is taken.
package struct Router<Handler: Sendable>: Sendable {
  /// What the table says about a request.
  package enum Match: Sendable {
    /// The handler, and what the parameters of its path are.
    case found(Handler, parameters: [String])
    /// OPTIONS answered (204), an unknown path (404), or a method that the path does not have (405).
    case answered(Response)
  }

  private var tree = PathTree()
  private let handlers: [Handler]

  /// A router for the routes; of two for the same method and path the first is taken.
  package init(_ routes: [Route<Handler>]) {
    handlers = routes.map(\.handler)
    for (index, route) in routes.enumerated() {
      tree.insert(route.method, route.path, index: index)
    }
  }

  /// Looks the request up by its method and path.
  package func match(_ request: Request) -> Match {
    if request.target == "*" { return .answered(.empty(204)) }
    guard let (node, parameters) = tree.walk(request.segments) else {
      return .answered(.problem(404, "There is nothing at this path."))
    }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let index = tree.route(at: node, method) else {
      return .answered(Self.refusal(of: request, known: tree.methods(at: node)))
    }
    return .found(handlers[index], parameters: parameters)
  }

  private static func refusal(of request: Request, known: [String]) -> Response {
    let allowed = Set(known + (known.contains("GET") ? ["HEAD"] : []) + ["OPTIONS"])
    let fields: Fields = ["Allow": allowed.sorted().joined(separator: ", ")]
    guard request.method != "OPTIONS" else { return .empty(204, fields: fields) }
    return .problem(
      405, "\(request.method) does not work here; Allow lists what does.", fields: fields)
  }
}
