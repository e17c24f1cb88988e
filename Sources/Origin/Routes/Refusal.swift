package import HTTP
import PluginHost
import Store

/// A request that is not answered as asked: a status, and a sentence its sender can act on.
package struct Refusal: Error, Sendable {
  package let status: Int
  package let sentence: String
  let retryAfter: Int?

  init(_ status: Int, _ sentence: String, retryAfter: Int? = nil) {
    (self.status, self.sentence, self.retryAfter) = (status, sentence, retryAfter)
  }

  /// The same for whatever a room threw.
  init(any error: any Error) {
    switch error {
    case let refusal as Refusal: self = refusal
    case let error as PluginError:
      self.init(error.status, error.reason, retryAfter: error.retryAfter)
    case let error as StoreError: self.init(error)
    default: self.init(500, "The server could not do it; its log says why.")
    }
  }

  private init(_ error: StoreError) {
    switch error.code {
    case .conflict: self.init(409, error.reason)
    case .tooLarge: self.init(413, error.reason)
    case .full: self.init(507, error.reason)
    case .missing, .busy: self.init(503, error.reason, retryAfter: 1)
    default: self.init(503, error.reason, retryAfter: 30)
    }
  }

  /// Runs what a room may refuse, and says it as an answer.
  static func mapping<R>(_ body: () throws -> R) throws(Refusal) -> R {
    do { return try body() } catch { throw Refusal(any: error) }
  }

  /// The same for what takes its time.
  static func mapping<R>(_ body: () async throws -> R) async throws(Refusal) -> R {
    do { return try await body() } catch { throw Refusal(any: error) }
  }

  /// The answer for a notification that does not exist or is not the caller's: nobody can tell which.
  static let noNotification = Refusal(404, "There is no such notification for you.")

  /// The answer that says so (RFC 9457).
  package var response: Response {
    var response = Response.problem(status, sentence)
    if let retryAfter { response.fields["Retry-After"] = String(retryAfter) }
    return response
  }
}
