/// Finds the route of a request in a table of methods and path patterns.
///
/// In a pattern, such as `/api/notifications/{}`, `{}` is a parameter, which matches any non-empty segment;
/// a literal segment takes precedence over it. HEAD is handled as GET, OPTIONS by the router itself.
package struct Router: Sendable {
  /// The result of a look-up.
  package enum Match: Sendable {
    /// The index of the route in the table, and the parameters of the path.
    case found(Int, parameters: [String])
    /// An OPTIONS (204), an unknown path (404), or a method that the path does not have (405).
    case answered(Response)
  }

  /// A route's method, and its index in the table.
  private typealias End = (method: String, index: Int)

  /// A segment of the paths, which form a tree; the first node is the root.
  private struct Node: Sendable {
    var literals: [(text: String, next: Int)] = []
    var parameter: Int?
    var routes: [End] = []
  }

  private var nodes = [Node()]
  private let patterns: [String]

  /// A router for these routes; of two with the same method and path, the first is used.
  package init(_ routes: [(method: String, pattern: String)]) {
    patterns = routes.map(\.pattern)
    for (index, route) in routes.enumerated() {
      // As a request's path is split: "/push/" ends with an empty segment.
      let segments = route.pattern.dropFirst().split(
        separator: "/", omittingEmptySubsequences: false)
      let end = (route.pattern == "/" ? [] : segments).reduce(0) { child($1, of: $0) }
      nodes[end].routes.append((route.method, index))
    }
  }

  /// Looks the request up by its method and path.
  package func match(_ request: Request) -> Match {
    if request.target == "*" { return .answered(.empty(204)) }
    guard let (routes, parameters) = find(request.segments) else {
      return .answered(.problem(404, "No such path."))
    }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let route = routes.first(where: { $0.method == method }) else {
      return .answered(Self.methodNotAllowed(request, allowed: routes.map(\.method)))
    }
    return .found(route.index, parameters: parameters)
  }

  /// The pattern of the request's path, such as `/api/notifications/{}`; nil if it is unknown.
  package func pattern(of request: Request) -> String? {
    find(request.segments)?.routes.first.map { patterns[$0.index] }
  }

  private static func methodNotAllowed(_ request: Request, allowed known: [String]) -> Response {
    let allowed = Set(known + (known.contains("GET") ? ["HEAD"] : []) + ["OPTIONS"])
    let fields: Fields = ["Allow": allowed.sorted().joined(separator: ", ")]
    guard request.method != "OPTIONS" else { return .empty(204, fields: fields) }
    return .problem(
      405, "\(request.method) is not allowed here; see the field Allow.", fields: fields)
  }

  /// The routes of a path and the path's parameters; nil if no route ends there.
  private func find(_ segments: [String]) -> (routes: [End], parameters: [String])? {
    var node = 0
    var parameters: [String] = []
    for segment in segments {
      // A linear search: a node has so few literals that hashing the segment would take longer.
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
  private mutating func child(_ segment: Substring, of node: Int) -> Int {
    if segment == "{}" {
      if let known = nodes[node].parameter { return known }
      nodes[node].parameter = nodes.count
    } else {
      if let known = nodes[node].literals.first(where: { $0.text == segment }) { return known.next }
      nodes[node].literals.append((String(segment), nodes.count))
    }
    nodes.append(Node())
    return nodes.count - 1
  }
}
