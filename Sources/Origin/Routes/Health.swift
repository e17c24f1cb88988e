import HTTP
import Store
import Synchronization

/// `/healthz`, `/readyz` and `/metrics`, which ask for no credentials.
final class Health: Sendable {
  private let store: Store
  private let metrics: Metrics
  private let streams: PushStreams
  private let lanes: Lanes
  private let server = Mutex<Server?>(nil)

  init(store: Store, metrics: Metrics, streams: PushStreams, lanes: Lanes) {
    (self.store, self.metrics, self.streams, self.lanes) = (store, metrics, streams, lanes)
  }

  /// Counts this server's connections from now on.
  func watch(_ server: Server) { self.server.withLock { $0 = server } }

  /// The answer when the request is for one of them.
  func answer(_ request: Request) -> Answer? {
    guard request.method == "GET" || request.method == "HEAD", request.segments.count == 1 else {
      return nil
    }
    switch request.segments[0] {
    case "healthz": return .now(Self.fine)
    case "readyz": return .later(deadline: .seconds(5)) { self.readiness() }
    case "metrics": return .later(deadline: .seconds(5)) { self.page() }
    default: return nil
    }
  }

  private func readiness() -> Response {
    do {
      _ = try store.latestPushEvent()
      return Self.fine
    } catch { return .problem(503, "The store does not answer: \(error)") }
  }

  private func page() -> Response {
    let connections = server.withLock { $0?.openConnections } ?? 0
    var response = Response.text(
      200, metrics.text(connections: connections, streams: streams.count, lanes: lanes.status),
      fields: ["Cache-Control": "no-store"])
    response.fields["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
    return response
  }

  private static let fine = Response.text(200, "ok\n", fields: ["Cache-Control": "no-store"])
}
