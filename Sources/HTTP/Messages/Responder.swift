import Glibc
import Primitives

/// What a ``Server`` serves: the application.
///
/// All methods run on an event loop's thread and must not block: slow work goes into the plan.
package protocol Responder: Sendable {
  /// Decides, from the head alone, how the response is produced.
  func plan(for request: Request) -> ResponsePlan

  /// Decides the same for a GET with the target and credentials of an earlier one, whose response is
  /// cached without content.
  func plan(for request: Request, like earlier: any CachedResponse) -> ResponsePlan

  /// The response to a request that is answered even when the server has reached its limit of
  /// connections, such as a health check; nil for all others, which get a 503.
  func responseWhenFull(to request: Request) -> Response?

  /// The route's name in metrics and logs; the request is nil if its head was rejected.
  func route(of request: Request?) -> String
}

extension Responder {
  /// The plan for any request.
  package func plan(for request: Request, like earlier: any CachedResponse) -> ResponsePlan {
    plan(for: request)
  }

  /// No exceptions.
  package func responseWhenFull(to request: Request) -> Response? { nil }

  /// No names.
  package func route(of request: Request?) -> String { "" }
}

/// How a response is produced.
///
/// If a deadline passes, the response is a 503 and the task is cancelled.
package enum ResponsePlan: Sendable {
  /// Runs the closure, then continues with the plan it returns. Until then no byte of a body is
  /// requested or read, beyond what was received together with the head. If there is none, the deadline
  /// is also that of an asynchronous plan.
  case deferred(deadline: Duration, @Sendable () async -> ResponsePlan)
  /// Sends the response at once: an error before the request's body is read, and the connection is
  /// then closed.
  case immediate(Response)
  /// The closure produces the response; a body, if there is one, is read and discarded first.
  case asynchronous(deadline: Duration, @Sendable () async -> Response)
  /// The closure produces the response from the body in memory; a body longer than the limit, in
  /// bytes, gets a 413.
  case collectingBody(
    limit: Int, deadline: Duration, interruption: BodyInterruption? = nil,
    @Sendable ([UInt8]) async -> Response)
  /// The closure produces the response from the body in a new file in the folder, which is deleted
  /// unless the closure moves it. `reserve` bytes of the file system stay free: otherwise the
  /// response is a 507.
  case savingBody(
    limit: Int, folder: String, reserve: Int = 0, deadline: Duration,
    interruption: BodyInterruption? = nil, @Sendable (SavedBody) async -> Response)

  /// By which the application can end the receipt of the request's body.
  var interruption: BodyInterruption? {
    switch self {
    case .collectingBody(_, _, let interruption, _), .savingBody(_, _, _, _, let interruption, _):
      interruption
    case .deferred, .immediate, .asynchronous: nil
    }
  }
}

/// A response that may be sent again to a GET of the same target with the same Authorization field.
package protocol CachedResponse: AnyObject, Sendable {
  /// The content; nil if it must be rendered for each request.
  var content: Content? { get }
  /// The route's name in metrics and logs.
  var route: String { get }
  /// Whether it may still be sent, at this time in seconds since 1970; asked before each use.
  func isValid(at second: Int) -> Bool
  /// Called each time the response is sent again, on an event loop's thread.
  func recordUse()
  /// Called when the response that was sent again has ended; its values are those of ``AccessRecord``.
  func recordEnd(status: Int, bytes: Int, nanoseconds: Int)
}

/// A request's body in a file of its own, deleted with this object.
package final class SavedBody: Sendable {
  /// The file, in the folder that the plan named; not synchronized to the disk.
  package let path: String
  /// Its size in bytes.
  package let size: Int

  /// Takes ownership of a file of this size in bytes.
  package init(path: String, size: Int) {
    (self.path, self.size) = (path, size)
  }

  deinit {
    // Perhaps on an event loop.
    Task(executorPreference: BlockingExecutor.bodies) { [path] in unlink(path) }
  }
}

/// Receives a record of every response when it has ended, on an event loop's thread.
package struct AccessObserver: Sendable {
  /// Whether cached responses have a record, too, for which their requests must be parsed.
  let recordsCached: Bool
  let record: @Sendable (AccessRecord) -> Void

  /// An observer; the closure must not block.
  package init(recordsCached: Bool, record: @escaping @Sendable (AccessRecord) -> Void) {
    (self.recordsCached, self.record) = (recordsCached, record)
  }
}

/// A request and its outcome, for access logs and metrics.
package struct AccessRecord: Sendable {
  /// The request; nil if its head was rejected.
  package let request: Request?
  /// The method; empty if the head was rejected.
  package let method: String
  /// The request's ID, as in the response.
  package var id: String { request?.id ?? Request.id(serial) }
  let serial: UInt64
  /// The route's name, as the responder gave it.
  package let route: String
  /// The address of the connection's other end.
  package let peer: String
  /// The status that was sent.
  package let status: Int
  /// The size of the body in bytes; 0 for a stream.
  package let bytes: Int
  /// From the turn of the event loop that received the end of the head to the end of the response.
  package let nanoseconds: Int
  /// The same in seconds.
  package var seconds: Double { Double(nanoseconds) / 1e9 }
  /// Whether the whole response was passed to the kernel.
  package let isComplete: Bool
  /// Whether a ``CachedResponse`` was sent again, which has recorded the end itself.
  package let isCached: Bool
}
