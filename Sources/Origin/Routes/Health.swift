import HTTP
import PluginHost
import Store
import Synchronization

/// `/healthz`, `/readyz` and `/metrics`, which ask for no name and password.
final class Health: Sendable {
  private let store: Store
  private let access: MetricsAccess
  private let instruments: Instruments
  private let server = Mutex<Server?>(nil)

  init(store: Store, access: MetricsAccess, instruments: Instruments) {
    (self.store, self.access, self.instruments) = (store, access, instruments)
  }

  /// Counts this server's connections from now on.
  func watch(_ server: Server) { self.server.withLock { $0 = server } }

  /// `GET /healthz`: the process answers.
  func alive(_ exchange: Exchange) -> Response { Self.fine }

  /// `GET /readyz`: whether requests can be met: the store reads and writes, and no plugin is stuck.
  func ready(_ exchange: Exchange) async -> Response {
    do { try await store.probe() } catch {
      return .problem(503, "The store does not answer: \(error)")
    }
    let stuck = instruments.host.status().filter(\.queue.isStuck).map(\.plugin.richType)
    guard stuck.isEmpty else {
      return .problem(
        503,
        "No call comes to an end, though others wait: plugin \(stuck.joined(separator: ", ")).",
        fields: ["Retry-After": "5"])
    }
    return Self.fine
  }

  /// `GET /metrics`.
  func measurements(_ exchange: Exchange) async -> Response {
    if let refusal = access.refusal(of: exchange.request) { return refusal }
    let assets = (try? store.assetCounts()) ?? [:]
    let page = instruments.page(server.withLock { $0 }, assets: assets)
    var response = Response.text(200, page, fields: ["Cache-Control": "no-store"])
    response.fields["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
    return response
  }

  private static let fine = Response.text(200, "ok\n", fields: ["Cache-Control": "no-store"])
}
