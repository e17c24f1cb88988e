import Delivery
import Dispatch
import HTTP
import Intake
import Media
import PluginHost
import Push
import Store
import Primitives

/// Plugins, renditions and signed links.
struct MediaServices: Sendable {
  let host: PluginHost
  let validator: PayloadValidator
  let foreground = ForegroundLoad()
  let counts = RenditionCounts()
  let queues: RenderQueues
  let renderer: Renderer
  let links: MediaLinks

  /// Finds the plugins; their `launcher` was started before the server gave up its privileges.
  init(
    _ configuration: OriginConfiguration, launcher: PluginLauncher, store: Store, log: Log
  ) async throws {
    let plugins = configuration.plugins(log: log)
    host = try PluginHost(configuration: plugins, launcher: launcher)
    try configuration.checkSandbox(of: host, log: log)
    configuration.warn(ofTypesMissingIn: host.plugins(), log: log)
    validator = PayloadValidator(host: host)
    queues = RenderQueues(concurrency: plugins.concurrency)
    renderer = Renderer(
      store: store, host: host, queues: queues, foreground: foreground, counts: counts)
    links = try await MediaLinks(store: store, base: configuration.publicURL)
  }
}

/// The drop folder: validating its files, and preparing their renditions.
struct IntakeServices: Sendable {
  let assets: AssetIntake
  let preparer: Preparer

  init(_ configuration: OriginConfiguration, _ media: MediaServices, store: Store, log: Log) {
    let isShared = configuration.database != nil
    assets = AssetIntake(
      store: store,
      folder: DropFolder(
        path: configuration.assets, mask: configuration.mask,
        identity: isShared ? DropFolder.identity(of: configuration.assets) : nil),
      validator: media.validator, foreground: media.foreground, log: log)
    preparer = Preparer(assets, media.renderer)
    store.observers.onAssetEvent.add { [preparer] in preparer.notify() }
  }

  /// The monitors of the drop folder and, if publishing is enabled, of the publish folder.
  ///
  /// - Throws: `OperatorError` if the sender does not exist or may not publish.
  func monitors(
    _ configuration: OriginConfiguration, _ publisher: Publisher, log: Log
  ) async throws -> [FolderMonitor] {
    guard let sender = configuration.publishAs else {
      return [FolderMonitor(Reconciliation(assets: assets, publisher: nil), log: log)]
    }
    let role = try await assets.store.accounts.user(named: sender)?.role ?? .device
    guard configuration.isDemo || role != .device else {
      throw OperatorError(
        "--publish-as \(sender): there is no such publisher; "
          + "create it with richpush user add \(sender) --role publisher")
    }
    var unpublished = assets
    unpublished.folder = DropFolder(
      path: assets.folder.path + "/" + DropFolder.publishFolderName, mask: configuration.mask,
      identity: assets.folder.identity)
    // Created now, so that people find it and it can be watched.
    unpublished.folder.create()
    func sidecars(_ assets: AssetIntake, isPublishFolder: Bool) -> SidecarPublisher {
      SidecarPublisher(
        assets, publisher, sender: sender, isDemo: configuration.isDemo,
        isPublishFolder: isPublishFolder, settle: configuration.settle)
    }
    return [
      FolderMonitor(
        Reconciliation(
          assets: assets, publisher: sidecars(assets, isPublishFolder: false)), log: log),
      FolderMonitor(
        PublishFolder(publisher: sidecars(unpublished, isPublishFolder: true)), log: log),
    ]
  }
}

/// Notifications, pushes and event streams.
struct DeliveryServices: Sendable {
  /// The key with which browsers subscribe; nil if nothing is sent to them.
  let vapidKey: String?
  let publisher: Publisher
  let lanes: PushLanes
  let unreached: UnreachedDevices
  /// Pushes, for devices.
  let pushes: EventStreams
  /// Receipts and asset events, for publishers.
  let events: EventStreams
  let workers: CommitWorkers

  init(
    _ configuration: OriginConfiguration, _ media: MediaServices, _ assets: AssetIntake,
    store: Store, clock: any SteadyClock, log: Log
  ) async throws {
    let push = configuration.push
    let secret = try await store.accounts.vapidSecret()
    let key = try VAPIDKey(hexadecimal: secret)
    vapidKey = push.webPush == nil ? nil : key.publicKey
    let payloads = PushPayloads(
      store: store, links: media.links,
      page: configuration.app == nil ? nil : configuration.publicURL.map { $0 + "/app/" })
    publisher = Publisher(
      assets: assets, renderer: media.renderer,
      announcement: Announcement(
        store: store, lanes: push.lanes, links: media.links, admitsGuests: configuration.isDemo),
      linkSchemes: configuration.linkSchemes, approveAbove: configuration.approveAbove)
    lanes = PushLanes(
      try push.providers(),
      webPush: try push.webPushSender(key: key),
      store: store, payloads: payloads, log: log)
    unreached = UnreachedDevices(lanes: push.lanes, log: log)
    let permits = StreamPermits()
    pushes = EventStreams(of: .pushes(store, payloads), store, permits, clock)
    events = EventStreams(of: .publishing(store), store, permits, clock)
    store.observers.onPushEvents.add { [pushes] in pushes.notify($0) }
    store.observers.onChange.add { [pushes] in pushes.tell(ofEnd: $0) }
    store.observers.onRead.add { [pushes] in pushes.tell(for: $0) }
    workers = CommitWorkers(
      store: store, publisher: publisher,
      webhook: WebhookDelivery(store: store, webhook: try push.eventWebhook(), log: log), log: log
    ) { [events] in events.notify() }
  }
}

/// The routes and their handlers, authentication and metrics.
struct RouteServices: Sendable {
  let table: RouteTable
  let dispatcher: RequestDispatcher
  /// Answers the requests to the server.
  let responder: any Responder
  /// Answers those to the server that only ntfy's API has; nil if it has none.
  let ntfy: (any Responder)?
  let authenticator: Authenticator
  let readiness: Readiness
  /// What is wrong with disks, the clock, the database and the provider.
  let conditions: Conditions
  let disks: DiskMonitor
  let clock: ClockMonitor
  /// Nil if people sign in with passwords only.
  let provider: ProviderMonitor?
  let requests = RequestMetrics()

  init(
    _ configuration: OriginConfiguration, _ media: MediaServices, _ intake: IntakeServices,
    _ delivery: DeliveryServices, _ certificate: CertificateMonitor, store: Store,
    clock: any SteadyClock, errors: RecentErrors, log: Log
  ) {
    let logins = FailedLogins()
    authenticator = Authenticator(
      store: store, isDemo: configuration.isDemo, signIn: configuration.signIn, failures: logins,
      clock: clock)
    let mediaRoutes = MediaRoutes(
      store: store, host: media.host, renderer: media.renderer,
      resolved: ResolvedMediaCache(countedBy: requests.counter(of: "/api/notifications/{}")))
    let signed = SignedMediaRoutes(
      media: mediaRoutes, links: media.links,
      resolved: ResolvedMediaCache(countedBy: requests.counter(of: "/media/{}/{}")))
    store.observers.onChange.add {
      [own = mediaRoutes.resolved.changes, shared = signed.resolved.changes] id in
      for clock in [own, shared] { clock.record(id) }
    }
    conditions = Conditions(log: log)
    disks = DiskMonitor(
      configuration, store: store, counts: media.counts, conditions: conditions)
    self.clock = ClockMonitor(store: store, conditions: conditions)
    readiness = Readiness(
      store: store, host: media.host, lanes: delivery.lanes, conditions: conditions, clock: clock,
      log: log)
    let metrics = MetricsReport(
      version: configuration.version, requests: requests, renditions: media.counts,
      queues: media.queues, host: media.host,
      streams: [
        ("push", { [pushes = delivery.pushes] in pushes.count }),
        ("events", { [events = delivery.events] in events.count }),
      ], lanes: delivery.lanes, logins: logins, readiness: readiness, certificate: certificate,
      conditions: conditions, disks: disks, clock: self.clock, store: store)
    let exports = Exports(store: store, log: log)
    let sent = SentRoutes(
      store: store, announcement: delivery.publisher.announcement,
      approveAbove: configuration.approveAbove, isDemo: configuration.isDemo, exports: exports)
    let provider = ProviderRoutes(
      configuration, store: store, failures: logins, conditions: conditions, clock: clock, log: log)
    self.provider = provider?.monitor
    let sessions = SessionRoutes(
      store: store, authenticator: authenticator, provider: provider)
    let registrations = RegistrationRoutes(
      store: store, announcement: delivery.publisher.announcement,
      lanes: configuration.push.lanes,
      endpoints: configuration.push.webPush?.endpoints
        ?? EndpointPolicy(allowsLoopback: configuration.isDemo),
      unreached: delivery.unreached,
      subjects: SubjectLimit(store: store, subjects: configuration.subjects.map(\.tag)), log: log)
    let inbox = InboxRoutes(store: store)
    let compatible = CompatibleRoutes(
      configuration.compatibility,
      CompatiblePublishing(
        store: store, authenticator: authenticator, publisher: delivery.publisher,
        assets: intake.assets, log: log),
      authenticator, delivery.pushes, signed)
    let outbox = OutboxRoutes(store: store, pushLanes: delivery.lanes)
    table = RouteTable(
      health: HealthRoutes(
        store: store, access: configuration.metricsAccess, readiness: readiness, report: metrics,
        unreached: delivery.unreached,
        statusReporter: StatusReporter(
          configuration, store: store, host: media.host, lanes: { try await outbox.lanes() },
          readiness: readiness, certificate: certificate, conditions: conditions, disks: disks,
          errors: errors, clock: clock)),
      app: AppDescriptionRoute(configuration, vapidKey: delivery.vapidKey),
      registrations: registrations,
      notifications: NotificationRoutes(
        store: store, authenticator: authenticator, publisher: delivery.publisher,
        assets: intake.assets, sentRoutes: sent, inboxRoutes: inbox,
        standard: configuration.standard),
      inbox: inbox,
      sent: sent,
      media: mediaRoutes, signed: signed,
      details: NotificationDetails(
        store: store, host: media.host, links: media.links,
        announcement: delivery.publisher.announcement),
      receipts: ReceiptRoutes(store: store, exports: exports),
      statistics: StatisticsRoutes(
        store: store, announcement: delivery.publisher.announcement, exports: exports,
        cache: StatisticsCache(
          store: store, unserved: Set(configuration.push.lanes.unreached), clock: clock)),
      interactions: InteractionRoutes(store: store),
      assets: AssetRoutes(
        store: store, assets: intake.assets, renderer: media.renderer,
        sender: configuration.publishAs, versionAge: configuration.retention.versionAge),
      plugins: PluginRoutes(host: media.host), types: RichTypeRoutes(host: media.host),
      sessions: sessions,
      outbox: outbox,
      users: UserRoutes(store: store, authenticator: authenticator),
      audit: AuditRoutes(store: store, exports: exports),
      accessTokens: AccessTokenRoutes(store: store, authenticator: authenticator),
      webhooks: compatible.webhookRoutes, drafts: DraftRoutes(store: store),
      segments: SegmentRoutes(
        store: store, announcement: delivery.publisher.announcement,
        approveAbove: configuration.approveAbove),
      imports: ImportRoutes(store: store, exports: exports),
      approvals: ApprovalRoutes(store: store),
      pairings: PairingRoutes(
        store: store, authenticator: authenticator, publicURL: configuration.publicURL),
      signUps: SignUpRoutes(
        store: store, mode: configuration.signUp, subjects: configuration.subjects.map(\.tag),
        limiter: SignUpLimiter(clock: clock), registrations: registrations),
      pushes: delivery.pushes, events: delivery.events,
      pages: PageRoutes(configuration, sessions: sessions).routes + (provider?.routes ?? []),
      compatible: compatible.routes)
    dispatcher = RequestDispatcher(
      table, authenticator: authenticator, store: store, log: log.limited(clock: clock))
    (responder, ntfy) = compatible.responders(dispatcher)
    if configuration.logsAudit {
      // The thread that commits must not wait for the journal.
      let queue = DispatchQueue(label: "richpush.audit")
      store.observers.onAudit.add { events in
        queue.async {
          for event in events { log(.notice, "audit", event.line, request: event.actor.request) }
        }
      }
    }
    store.observers.onCredentialsEnded.add {
      [authenticator, bodies = dispatcher.bodies, streams = [delivery.pushes, delivery.events]]
      user in
      authenticator.invalidate(user)
      Task {
        await bodies.endInvalid(of: user)
        for streams in streams { await streams.closeInvalid(of: user) }
      }
    }
  }
}
