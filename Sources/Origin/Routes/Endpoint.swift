import HTTP

/// What answers at one place of the API.
struct Endpoint: Sendable {
  /// What becomes of the body of a request, once its caller may use the place.
  enum Body: Sendable {
    /// The place takes none.
    case none
    /// It is read into memory, up to so many bytes.
    case memory(limit: Int)
    /// It is written to a temporary file, up to so many bytes.
    case file(limit: Int)
  }

  typealias Handler = @Sendable (Exchange) async throws -> Response

  /// Who may use the place: checked before a byte of the body is read.
  let access: Access
  var body = Body.none
  /// How long the handler may take, from the end of the body.
  var deadline = Duration.seconds(30)
  /// Answers or refuses from the head alone; nil passes on to `handler`, which is asked only then.
  ///
  /// Mostly called on an HTTP thread, so it must not block.
  var ready: (@Sendable (Exchange) throws -> Response?)?
  let handler: Handler

  /// An endpoint; who may use it has no default, so that no new route is open by oversight.
  init(
    for access: Access, body: Body = .none, deadline: Duration = .seconds(30),
    ready: (@Sendable (Exchange) throws -> Response?)? = nil, _ handler: @escaping Handler
  ) {
    (self.access, self.body, self.deadline) = (access, body, deadline)
    (self.ready, self.handler) = (ready, handler)
  }
}
