import HTTP

/// What answers at one place of the API.
struct Endpoint: Sendable {
  /// What becomes of the body of a request, before the handler is asked.
  enum Body: Sendable {
    /// The place takes none.
    case none
    /// It is read into memory, up to so many bytes.
    case memory(limit: Int)
    /// It is written to a temporary file, up to so many bytes.
    case file(limit: Int)
  }

  typealias Handler = @Sendable (Exchange) async throws -> Response

  var body = Body.none
  /// Whether the place asks for no name and password.
  var isOpen = false
  /// How long the handler may take, from the end of the body.
  var deadline = Duration.seconds(30)
  /// Answers on the HTTP thread when nothing must be waited for; nil passes on to `handler`.
  var ready: (@Sendable (Exchange) throws -> Response?)?
  let handler: Handler

  init(
    body: Body = .none, isOpen: Bool = false, deadline: Duration = .seconds(30),
    ready: (@Sendable (Exchange) throws -> Response?)? = nil, _ handler: @escaping Handler
  ) {
    (self.body, self.isOpen, self.deadline) = (body, isOpen, deadline)
    (self.ready, self.handler) = (ready, handler)
  }
}
