import HTTP
import Primitives
import Push

/// A push service with one subscription, on this machine: what `richpush device --webpush` listens to.
///
/// A server on this machine posts to it if it is in demo mode, which accepts endpoints that are plain http.
package final class WebPushReceiver: Sendable {
  /// The URL that is registered.
  package let endpoint: String
  /// The keys that are registered, `p256dh` and `auth`.
  package let keys: (p256dh: String, auth: String)
  /// The port and the private keys, for the next start.
  package let state: String
  /// The decrypted texts of the pushes, in the order of their arrival.
  package let pushes: AsyncStream<[UInt8]>
  private let server: Server

  /// Listens on a port of loopback: that of an earlier start, if it is free.
  package init(resuming state: String?) throws {
    let parts = state?.split(separator: " ").map(String.init) ?? []
    let saved = parts.count == 2 ? try? WebPushSubscription(parts[1]) : nil
    let subscription = try saved ?? WebPushSubscription()
    let (pushes, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    let responder = PushResponder(subscription: subscription, pushes: continuation)
    func listen(_ port: UInt16) throws -> Server {
      try Server(ServerConfiguration(port: port, threads: 1), responder: responder, log: .silent)
    }
    let port = saved == nil ? 0 : UInt16(parts[0]) ?? 0
    server = try (try? listen(port)) ?? listen(0)
    self.pushes = pushes
    self.state = "\(server.port) \(subscription.text)"
    keys = (subscription.p256dh, subscription.auth)
    endpoint = "http://127.0.0.1:\(server.port)\(PushResponder.path)"
  }

  /// Stops listening; a push that arrives later is sent again.
  package func stop() async { await server.stop(grace: .seconds(1)) }
}

/// Accepts the pushes of one subscription (RFC 8030, section 5).
private struct PushResponder: Responder {
  static let path = "/push"
  /// The most bytes of an encrypted message (RFC 8030, section 7.2).
  private static let limit = 4096

  let subscription: WebPushSubscription
  let pushes: AsyncStream<[UInt8]>.Continuation

  func plan(for request: Request) -> ResponsePlan {
    guard request.method == "POST", request.target == Self.path else {
      return .immediate(.problem(404, "There is no such subscription."))
    }
    guard request.fields["TTL"] != nil, request.fields["Content-Encoding"] == "aes128gcm" else {
      return .immediate(.problem(400, "TTL is missing, or the content coding is not aes128gcm."))
    }
    return .collectingBody(limit: Self.limit, deadline: .seconds(10)) { body in
      guard let text = subscription.decrypt(body) else {
        return .problem(400, "The message is not encrypted for this subscription.")
      }
      pushes.yield(text)
      return .empty(201)
    }
  }
}
