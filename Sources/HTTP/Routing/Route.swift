/// A segment of a route's path: itself, or a place that anything but nothing may take.
package enum RouteSegment: Sendable, Equatable, ExpressibleByStringLiteral {
  case literal(String)
  case parameter

  package init(stringLiteral text: String) { self = .literal(text) }
}

/// One line of a table of routes: a method, a path and what handles them.
package struct Route<Handler: Sendable>: Sendable {
  let method: String
  let path: [RouteSegment]
  let handler: Handler

  /// A route, such as `Route("GET", "api", "notifications", .parameter, handler: fetch)`.
  package init(_ method: String, _ path: RouteSegment..., handler: Handler) {
    self.method = method
    self.path = path
    self.handler = handler
  }

  /// The path as people write it, such as "/api/notifications/{}".
  var pattern: String {
    path.reduce(into: "") { text, segment in
      switch segment {
      case .literal(let literal): text += "/\(literal)"
      case .parameter: text += "/{}"
      }
    }
  }
}
