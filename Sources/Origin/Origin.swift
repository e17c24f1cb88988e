import Delivery
import Dispatch
import Glibc
package import HTTP
import Intake
import Media
import PluginHost
package import Primitives
import Store
import Synchronization

/// The application: all services and the HTTP server.
package final class Origin: Sendable {
  /// The routes, with their handlers.
  let routes: RouteServices
  /// Removes expired data, and applies changes by commands.
  let housekeeping: Housekeeping
  private let media: MediaServices
  private let intake: IntakeServices
  private let delivery: DeliveryServices
  private let monitors: [FolderMonitor]
  private let server: Server
  /// The one that only ntfy's API has, at an address of its own.
  private let ntfyServer: Server?
  private let accessLog: AccessLog?
  private let control: ControlSocket
  private let renewal: CertificateRenewal?
  private let housekeepingTask: Mutex<Task<Void, Never>>

  /// Opens the store, finds the plugins and listens; `clock` is that of its pauses and deadlines.
  ///
  /// - Throws: an error whose description tells the operator what to fix.
  package init(
    _ configuration: OriginConfiguration, clock: any SteadyClock = ContinuousClock(), log: Log
  ) async throws {
    let errors = RecentErrors()
    let log = errors.recording(log)
    let files = OpenCertificates(configuration.certificates)
    // Before the files are read: what changes meanwhile is noticed later.
    let (facts, ticketKeys) = (files.facts, TLSTicketKeys())
    let serverConfiguration = configuration.server(
      try configuration.identity(of: files, tickets: ticketKeys))
    // What needs root comes first: the TLS key, the port, and the launcher of plugins, which also needs that few
    // descriptors are open.
    let listeners = try configuration.user.map { _ in try Listeners.open(serverConfiguration) }
    let ntfyConfiguration = configuration.ntfyServer(like: serverConfiguration)
    let ntfyListeners = try ntfyConfiguration.flatMap { ntfy in
      try configuration.user.map { _ in try Listeners.open(ntfy) }
    }
    let launcher = try PluginLauncher(configuration.plugins(log: log))
    try configuration.user?.become(ownerOf: configuration.data)
    let store = try Store(
      folder: configuration.data, database: configuration.database,
      objects: configuration.objects?.configuration, rules: configuration.rules,
      reserve: DiskReserve.size)
    try await configuration.monitorObjects(of: store, log: log)
    if !configuration.isDemo { store.accounts.removePasswordlessUsers() }
    media = try await MediaServices(configuration, launcher: launcher, store: store, log: log)
    intake = IntakeServices(configuration, media, store: store, log: log)
    delivery = try await DeliveryServices(
      configuration, media, intake.assets, store: store, clock: clock, log: log)
    let tickets = serverConfiguration.tls.map { _ in
      SessionTickets(ticketKeys, of: store, log: log)
    }
    await tickets?.updateOrLog()
    let certificate = CertificateMonitor(
      configuration, serverConfiguration.tls?.certificates ?? [], log: log)
    routes = RouteServices(
      configuration, media, intake, delivery, certificate, store: store, clock: clock,
      errors: errors, log: log)
    accessLog = try configuration.accessLog.map { [authenticator = routes.authenticator] path in
      try AccessLog(path: path, caller: authenticator.knownCaller)
    }
    let observer = AccessObserver(recordsCached: accessLog != nil) {
      [requests = routes.requests, accessLog] in
      if !$0.isCached { requests.count($0) }
      accessLog?.add($0)
    }
    server = try Server(
      serverConfiguration, listeners: listeners, responder: routes.responder, log: log,
      observer: observer)
    if let ntfy = ntfyConfiguration, let responder = routes.ntfy {
      ntfyServer = try Server(
        ntfy, listeners: ntfyListeners, beside: server, responder: responder, log: log,
        observer: observer)
    } else {
      ntfyServer = nil
    }
    renewal = serverConfiguration.tls.map {
      [servers = [server] + [ntfyServer].compactMap(\.self)] identity in
      configuration.advise(on: identity.certificates, log: log)
      return CertificateRenewal(
        configuration, since: facts, launcher, ticketKeys, certificate, servers, log: log)
    }
    try await configuration.warn(of: store, log: log)
    monitors = try await intake.monitors(configuration, delivery.publisher, log: log)
    housekeeping = Housekeeping(
      store: store, retention: configuration.retention, authenticator: routes.authenticator,
      streams: [delivery.pushes, delivery.events], bodies: routes.dispatcher.bodies,
      links: media.links, signed: routes.table.signed,
      lanes: delivery.lanes, readiness: routes.readiness, disks: routes.disks, clock: routes.clock,
      provider: routes.provider, counts: media.counts,
      certificate: certificate, renewal: renewal, tickets: tickets, log: log)
    let address =
      configuration.publicURL
      ?? ServerAddress.url(
        isSecure: !configuration.certificates.isEmpty, host: server.host, port: server.port)
    control = try ControlSocket(
      in: configuration.data,
      describing: ControlSocket.Server(
        address: address, isDemo: configuration.isDemo,
        issuer: configuration.signIn.issuer)
    ) { [housekeeping] in try await housekeeping.reload() }
    housekeepingTask = Mutex(
      Task.detached(priority: .background) { [housekeeping] in await housekeeping.run() })
    // The server also starts if the disk is full.
    try? await store.recordStart(of: configuration.version, settings: configuration.settings)
    start(log)
  }

  private func start(_ log: Log) {
    routes.table.health.report(on: server)
    let observers = housekeeping.store.observers
    // One node at a time watches a drop folder.
    observers.folderLead.observe { [monitors] isHeld in
      for monitor in monitors { isHeld ? monitor.start() : monitor.stop() }
    }
    if let identity = intake.assets.folder.identity { observers.folderLead.compete(for: identity) }
    for (lead, work) in [
      (observers.lead, "assets are not prepared and events not delivered"),
      (observers.folderLead, "dropped files are not seen"),
    ] {
      lead.onVacancy.add { [log] isVacant in
        if isVacant {
          log(
            .error, "store",
            "no node has had the lead for a minute, so \(work); another program may have its lock")
        } else {
          log(.notice, "store", "a node has the lead again")
        }
      }
    }
    observers.lead.observe { [preparer = intake.preparer] isHeld in
      isHeld ? preparer.start() : preparer.stop()
    }
    observers.onTicketKeys.add { [tickets = housekeeping.tickets] in
      if let tickets { Task { await tickets.updateOrLog() } }
    }
    observers.onEverything.add { [housekeeping, changes = routes.table.media.resolved.changes] in
      housekeeping.assumeEverythingChanged(changes)
    }
    let trust = CacheTrust([
      routes.authenticator.changes, routes.table.media.resolved.changes,
      routes.table.signed.resolved.changes,
    ])
    observers.onHearing.add { trust.update(silence: $0) }
    media.host.warmUp()
    delivery.lanes.start()
    delivery.workers.start()
  }

  /// How long an event loop or the writer may be busy without being considered hung.
  private static let longestTurn = DispatchTimeInterval.seconds(10)

  /// Calls `report` every `interval`, unless an event loop or the store's writer has not turned within ten
  /// seconds; for a watchdog.
  ///
  /// It does not call it for a plugin or a push service that hangs: media that exists is served then too.
  package func onTurns(every interval: Duration, _ report: @escaping @Sendable () -> Void) {
    DetachedThread.start(named: "watchdog") { [weak self] in
      while let group = self?.turns() {
        if group.wait(timeout: .now() + Self.longestTurn) == .success { report() }
        usleep(UInt32(min(interval, .seconds(3600)) / .microseconds(1)))
      }
    }
  }

  private func turns() -> DispatchGroup {
    let group = DispatchGroup()
    for server in servers { server.turn(group) }
    housekeeping.store.turn(group)
    return group
  }

  /// The application as the HTTP server calls it.
  package var responder: any Responder { routes.responder }

  /// ntfy's API as its own HTTP server calls it; nil if it has none.
  package var ntfyResponder: (any Responder)? { routes.ntfy }

  /// The port that the server listens on.
  package var port: Int { server.port }

  /// The port of ntfy's API; nil if it has no address of its own.
  package var ntfyPort: Int? { ntfyServer?.port }

  private var servers: [Server] { [server] + [ntfyServer].compactMap(\.self) }

  /// Reads users, keys and the TLS certificates again; open connections keep the old certificates.
  ///
  /// - Throws: the first error, which says what was not read; everything else was.
  package func reload() async throws {
    var failures: [any Error] = []
    do { try accessLog?.reopen() } catch { failures.append(error) }
    do { try await housekeeping.reload() } catch { failures.append(error) }
    do { try await renewal?.reload() } catch { failures.append(error) }
    if let first = failures.first { throw first }
  }

  /// Stops accepting connections, completes pending work, and stops.
  package func stop() async {
    control.stop()
    housekeepingTask.withLock { $0.cancel() }
    for monitor in monitors { monitor.stop() }
    intake.preparer.stop()
    delivery.workers.stop()
    async let other: Void? = ntfyServer?.stop(grace: .seconds(10))
    await server.stop(grace: .seconds(10))
    _ = await other
    await delivery.lanes.stop()
    await housekeeping.store.settle()
    accessLog?.flush()
  }
}
