import Delivery
import Media
import RichPushAPI
import HTTP
import PluginHost
import Store
import Synchronization

/// `/healthz`, `/readyz` and `/metrics`, which need no password.
final class HealthRoutes: Sendable {
  private let store: Store
  private let access: MetricsAccess
  private let readiness: Readiness
  private let report: MetricsReport
  private let unreached: UnreachedDevices
  private let statusReporter: StatusReporter
  private let server = Mutex<Server?>(nil)

  init(
    store: Store, access: MetricsAccess, readiness: Readiness, report: MetricsReport,
    unreached: UnreachedDevices, statusReporter: StatusReporter
  ) {
    (self.store, self.access, self.readiness) = (store, access, readiness)
    (self.report, self.unreached, self.statusReporter) = (report, unreached, statusReporter)
  }

  /// Sets the server whose connections `/metrics` reports.
  func report(on server: Server) { self.server.withLock { $0 = server } }

  /// `GET /healthz`: the process responds.
  func alive(_ context: RequestContext) -> Response { Self.ok }

  /// `GET /readyz`: whether devices can be served; with `?for=publishing`, what a `POST` would meet.
  ///
  /// After `ok`, a line for each thing of which the operator is warned.
  func ready(_ context: RequestContext) async throws -> Response {
    // Others are ignored: balancers may have their own.
    let text = context.request.query["for"] ?? Readiness.Purpose.devices.rawValue
    guard let purpose = Readiness.Purpose(rawValue: text) else {
      throw ServiceError(.invalidRequest, "for must be devices or publishing.")
    }
    let problems = await readiness.problems(for: purpose)
    if problems.isEmpty {
      let warnings = report.certificate.problems.map { $0.publicSentence + "\n" }
      return warnings.isEmpty
        ? Self.ok
        : .text(200, "ok\n" + warnings.joined(), fields: ["Cache-Control": "no-store"])
    }
    return .problem(
      503, problems.map(\.sentence).joined(separator: " "), fields: ["Retry-After": "5"])
  }

  /// `GET /metrics`.
  func metrics(_ context: RequestContext) async -> Response {
    if let rejection = access.rejection(of: context.request) { return rejection }
    let assets = try? await store.assets.assetCounts(richType: nil)
    let unreached = (try? await unreached.counts(in: store)) ?? []
    let queues = (try? await store.administration.laneQueues()) ?? []
    let page = report.page(
      server.withLock { $0 }, assets: assets, queues: queues, unreached: unreached)
    var response = Response.text(200, page, fields: ["Cache-Control": "no-store"])
    response.fields["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
    return response
  }

  /// The response of `/healthz`, also when the server has reached its limit of connections.
  static let ok = Response.text(200, "ok\n", fields: ["Cache-Control": "no-store"])
}

extension HealthRoutes {
  /// `GET /api/status`: how the server is, and what needs attention.
  func status(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    return .json(200, await statusReporter.report(), fields: ["Cache-Control": "no-store"])
  }

  /// `GET /api/storage`: what the data takes on the disk.
  func storage(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    let usage = try await store.usage()
    return .json(
      200,
      StorageReport(
        database: usage.database, blobs: usage.blobs, renditions: usage.renditions,
        free: usage.free))
  }
}

/// `GET /api/plugins`: the state of each plugin, for admins.
struct PluginRoutes: Sendable {
  let host: PluginHost

  func list(_ context: RequestContext) async throws -> Response {
    .json(
      200,
      PluginReport(
        plugins: host.status().map {
          PluginReport.Plugin($0, confinement: host.confinement(of: $0.plugin))
        },
        sandbox: PluginReport.Sandbox(
          level: host.sandboxReport.level.rawValue, gaps: host.sandboxGaps)))
  }
}

extension PluginReport.Plugin {
  fileprivate init(_ status: PluginStatus, confinement: String) {
    let (plugin, calls) = (status.plugin, status.calls)
    self.init(
      richType: plugin.richType, version: plugin.manifest.version,
      mode: plugin.manifest.mode.rawValue, verbs: plugin.manifest.verbs.map(\.rawValue).sorted(),
      problem: plugin.problem, confinement: confinement,
      processes: PluginReport.Plugin.Processes(
        idle: status.processes.idle, busy: status.processes.busy, most: status.processes.maximum),
      calls: calls.count, failures: calls.failures,
      medianSeconds: calls.median.map { $0 / .seconds(1) },
      slowestSeconds: calls.percentile95.map { $0 / .seconds(1) })
    guard let cause = calls.lastFailure else { return }
    (lastFailure, lastFailureTime) = (cause, calls.lastFailureTime)
    lastFailureOutput = calls.lastFailureOutput
  }
}
