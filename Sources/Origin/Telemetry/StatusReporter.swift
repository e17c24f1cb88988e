import Delivery
import FoundationEssentials
import Glibc
import PluginHost
import Primitives
import Push
import RichPushAPI
import Store
import Synchronization

/// Tells administrators how the server is.
///
/// What is counted grows with the users, so all who ask within some seconds get the same report.
final class StatusReporter: Sendable {
  private let configuration: OriginConfiguration
  private let store: Store
  private let host: PluginHost
  /// The state of each push service.
  private let allLanes: @Sendable () async throws -> LaneReport
  private let readiness: Readiness
  private let certificate: CertificateMonitor
  private let conditions: Conditions
  private let diskMonitor: DiskMonitor
  private let errors: RecentErrors
  private let clock: any SteadyClock
  private let started: Date
  private let last = Mutex<(begin: ContinuousClock.Instant, task: Task<StatusReport, Never>)?>(nil)

  /// How long a report is valid.
  static let validity = Duration.seconds(3)
  /// The most access tokens and Web Push services of a report.
  private static let (tokens, webPushServices) = (20, 20)

  init(
    _ configuration: OriginConfiguration, store: Store, host: PluginHost,
    lanes: @escaping @Sendable () async throws -> LaneReport, readiness: Readiness,
    certificate: CertificateMonitor, conditions: Conditions, disks: DiskMonitor,
    errors: RecentErrors, clock: any SteadyClock
  ) {
    (self.configuration, self.store, self.host) = (configuration, store, host)
    (allLanes, self.readiness, self.certificate) = (lanes, readiness, certificate)
    (self.conditions, diskMonitor, self.errors, self.clock) = (conditions, disks, errors, clock)
    started = store.now()
  }

  /// The report, which may be some seconds old.
  func report() async -> StatusReport {
    let now = clock.now
    let task = last.withLock { last in
      if let last, now - last.begin < Self.validity { return last.task }
      let task = Task { await make() }
      last = (now, task)
      return task
    }
    return await task.value
  }

  private func make() async -> StatusReport {
    var readiness: [Readiness.Problem] = []
    for purpose in Readiness.Purpose.allCases {
      readiness += await self.readiness.problems(for: purpose)
    }
    let records = try? await records()
    let lanes = configuration.push.lanes
    let leads = [
      (store.observers.lead, "nodes", "assets are not prepared and events not delivered"),
      (store.observers.folderLead, "folder", "dropped files are not seen"),
    ]
    let facts = StatusFacts(
      now: store.now(), readiness: readiness, certificates: certificate.problems, records: records,
      gaps: Dictionary(uniqueKeysWithValues: lanes.unreached.map { ($0, lanes.gap(of: $0)) }),
      plugins: host.status(), conditions: conditions.all,
      vacantLeads: leads.filter(\.0.isVacant).map { ($0.1, $0.2) })
    var report = StatusReport(
      attention: facts.attention,
      server: StatusReport.Server(
        version: configuration.version, node: Self.machine, started: started,
        database: store.schema.database, schema: store.schema.version,
        hasLead: store.observers.lead.isHeld),
      disks: disks, caches: caches,
      certificates: certificate.ends.map {
        StatusReport.Certificate(file: $0.file, expires: $0.time)
      }, errors: errors.lines)
    report.records = records
    return report
  }

  private func records() async throws -> StatusReport.Records {
    let now = store.now()
    let counts = try await store.administration.recordCounts(
      includingPasswordless: configuration.isDemo)
    let lanes = configuration.push.lanes
    let devices = try await store.accounts.deviceCounts()
    let tokens = try await store.accessTokens.accessTokens(
      endingNear: now, notice: TimeInterval(ExpiryNotice.longest), share: ExpiryNotice.share,
      limit: Self.tokens)
    return StatusReport.Records(
      users: StatusReport.Users(
        device: counts.users[.device] ?? 0, publisher: counts.users[.publisher] ?? 0,
        admin: counts.users[.admin] ?? 0),
      devices: devices.sorted { $0.key < $1.key }.map {
        StatusReport.Devices(
          platform: $0.key, service: lanes.service(of: $0.key), count: $0.value)
      }, lanes: try await self.lanes(), scheduled: counts.scheduled,
      awaitingApproval: counts.awaitingApproval,
      accessTokens: tokens.compactMap { token in
        token.scope.expires.map {
          StatusReport.AccessTokenEnd(
            name: token.name, user: token.user, expires: $0, isWebhook: token.scope.isWebhook)
        }
      }, databaseSize: try await store.databaseSize())
  }

  /// The lanes without most of those to Web Push services: devices choose these, so there may be many.
  private func lanes() async throws -> [LaneReport.Lane] {
    let lanes = Dictionary(grouping: try await allLanes().lanes) { lane in
      WebPushLane.origin(of: lane.name) != nil
    }
    let chosen = (lanes[true] ?? []).sorted { $0.queued > $1.queued }
    return (lanes[false] ?? []) + chosen.prefix(Self.webPushServices)
  }

  private var disks: [StatusReport.Disk] {
    diskMonitor.spaces.map { disk, space in
      StatusReport.Disk(
        folders: disk.folders, path: disk.path, free: space.free, total: space.total)
    }
  }

  private var caches: [StatusReport.Cache] {
    let renditions = StatusReport.Cache(
      name: "renditions", size: store.renditions.size, limit: configuration.renditionBytes)
    guard store.objects != nil else { return [renditions] }
    return [
      renditions,
      StatusReport.Cache(
        name: "blobs", size: store.blobs.cachedBytes ?? 0, limit: configuration.objectCacheBytes),
    ]
  }

  /// The name of this machine (gethostname(2)).
  private static let machine: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
  }()
}
