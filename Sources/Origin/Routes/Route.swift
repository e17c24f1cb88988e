import HTTP

/// A place of the API: what it is called, and what answers there.
struct Route: Sendable {
  /// What a route does with the body of a request.
  enum Body: Sendable {
    /// It takes none.
    case none
    /// It wants the body in memory, up to so many bytes.
    case memory(Int)
  }

  typealias Handler = @Sendable (Exchange) async throws -> Response

  let method: String
  /// The path's segments; a `*` takes any text, which becomes a parameter.
  let path: [String]
  var body = Body.none
  var deadline = Duration.seconds(30)
  /// Answers on the HTTP thread when nothing must be waited for; nil passes on to `handler`.
  var ready: (@Sendable (Exchange) throws -> Response?)?
  let handler: Handler

  init(
    _ method: String, _ path: String, body: Body = .none, deadline: Duration = .seconds(30),
    ready: (@Sendable (Exchange) throws -> Response?)? = nil, _ handler: @escaping Handler
  ) {
    self.method = method
    self.path = path.split(separator: "/").map(String.init)
    (self.body, self.deadline, self.ready, self.handler) = (body, deadline, ready, handler)
  }

  /// The parameters that the path holds, or nil when it is another place's.
  func parameters(_ segments: [String]) -> [String]? {
    guard segments.count == path.count else { return nil }
    var parameters: [String] = []
    for (mine, theirs) in zip(path, segments) {
      if mine == "*" {
        parameters.append(theirs)
      } else if mine != theirs {
        return nil
      }
    }
    return parameters
  }
}
