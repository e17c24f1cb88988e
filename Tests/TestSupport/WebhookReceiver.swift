package import HTTP
import Synchronization
import Primitives

/// A program of the operator's that listens on loopback: records what is posted to it, and answers as it
/// is told.
package final class WebhookReceiver: Responder {
  /// A secret in the form of the Standard Webhooks specification.
  package static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  private let statuses = Mutex<[Int]>([])
  private let retryAfter = Mutex<Int?>(nil)
  private let posts = Mutex<[(id: String, body: String)]>([])

  /// Runs a test with a receiver and its URL.
  package static func test(
    _ body: (_ receiver: WebhookReceiver, _ url: String) async throws -> Void
  ) async throws {
    let receiver = WebhookReceiver()
    let server = try Server(ServerConfiguration(threads: 1), responder: receiver, log: .silent)
    do { try await body(receiver, "http://127.0.0.1:\(server.port)/") } catch {
      await server.stop(grace: .seconds(1))
      throw error
    }
    await server.stop(grace: .seconds(1))
  }

  private init() {}

  /// The IDs of what was posted, in order.
  package var ids: [String] { posts.withLock { $0.map(\.id) } }
  /// The bodies, in order.
  package var bodies: [String] { posts.withLock { $0.map(\.body) } }

  /// Answers the next posts with these statuses, later ones with 204; all with this Retry-After.
  package func answer(_ next: [Int], retryAfter seconds: Int? = nil) {
    statuses.withLock { $0 = next }
    retryAfter.withLock { $0 = seconds }
  }

  package func plan(for request: Request) -> ResponsePlan {
    .collectingBody(limit: 1 << 20, deadline: .seconds(10)) { [self] body in
      let id = request.fields["Webhook-Id"] ?? ""
      posts.withLock { $0.append((id, String(decoding: body, as: UTF8.self))) }
      var response = Response.empty(statuses.withLock { $0.isEmpty ? 204 : $0.removeFirst() })
      response.fields["Retry-After"] = retryAfter.withLock { $0.map(String.init) }
      return response
    }
  }
}
