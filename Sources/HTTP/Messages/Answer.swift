/// Answers requests.
///
/// Called on an HTTP thread, so it must not block: slow work goes into the answer.
package protocol Responder: Sendable {
  /// Decides, from the head alone, how the request is to be answered.
  func answer(_ request: Request) -> Answer

  /// The file that stands for whoever sends these credentials with a GET of the target, without a
  /// closer look at the request; called on an HTTP thread.
  func standing(at target: String, for authorization: String) -> (any StandingAnswer)?

  /// What measurements and logs call the place that the request was for; nil is a head that was
  /// refused before it became a request.
  func route(of request: Request?) -> String
}

extension Responder {
  /// No answer stands; every request is looked at.
  package func standing(
    at target: String, for authorization: String
  ) -> (any StandingAnswer)? { nil }

  /// Nothing is called anything.
  package func route(of request: Request?) -> String { "" }
}

/// How a request is answered.
///
/// Every deadline that passes becomes a 503; its task is cancelled.
package enum Answer: Sendable {
  /// As work that takes time decides. Until then no byte of a body is asked for or read, beyond what
  /// came together with the head.
  case deciding(deadline: Duration, @Sendable () async -> Answer)
  /// At once. An error is sent before the request's body is read, and the connection then closed.
  case now(Response)
  /// By work that takes time; a body, if there is one, is read and dropped first.
  case later(deadline: Duration, @Sendable () async -> Response)
  /// With the whole body in memory; a longer one than the limit (in bytes) gets 413.
  case reading(limit: Int, deadline: Duration, @Sendable ([UInt8]) async -> Response)
  /// With the body in a new file in the folder, which is removed unless it is taken.
  case saving(
    limit: Int, folder: String, deadline: Duration, @Sendable (SavedBody) async -> Response)
}
