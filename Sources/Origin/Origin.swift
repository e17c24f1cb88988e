import HTTP
import PluginHost
import Push
import Store
import Synchronization

/// The application: every room, wired.
package final class Origin: Sendable {
  /// The table of routes.
  let api: API
  /// What notices removed users.
  let keeper: Housekeeping
  private let rounds: [Rounds]
  private let preparer: Preparer
  private let lanes: Lanes
  private let watches: Watches
  private let server: Server
  private let accessLog: AccessLog?
  private let housekeeping: Mutex<Task<Void, Never>>

  /// Opens the store, finds the plugins and listens.
  ///
  /// - Throws: a room's error, with a sentence for the operator.
  package init(_ configuration: OriginConfiguration, log: Log) throws {
    let plugins = configuration.plugins(log: log)
    let place = try configuration.server()
    // What needs root comes first: the port, the keys in `place`, and the launcher of plugins.
    let listeners = try configuration.user.map { _ in try Listeners.open(place) }
    let launcher = try configuration.user.map { user in
      let launcher = try PluginLauncher(plugins)
      try user.take(over: configuration.data)
      return launcher
    }
    let store = try Store(folder: configuration.data)
    if !configuration.isDemo { store.removeGuests() }
    let host = try PluginHost(configuration: plugins, launcher: launcher)
    try configuration.announceSandbox(of: host, log: log)
    if host.plugins().isEmpty {
      log("there are no plugins in \(configuration.plugins); richpush plugin new TYPE makes one")
    }
    let providers = try configuration.push.providers()
    let lanes = Lanes(providers, store: store, log: log)
    let bustle = Bustle()
    let assets = Assets(
      store: store, folder: DropFolder(path: configuration.assets, mask: configuration.mask),
      validation: Validation(host: host), bustle: bustle, log: log)
    let counts = RenditionCounts()
    let lines = RenderLines(concurrency: plugins.concurrency)
    let renderer = Renderer(
      store: store, host: host, lines: lines, bustle: bustle, counts: counts)
    let links = try MediaLinks(store: store, base: configuration.publicURL)
    let publisher = Publisher(
      store: store, assets: assets, validation: assets.validation, renderer: renderer,
      announcement: Announcement(
        store: store, lanes: providers.map(\.name), isEmbedded: configuration.push.isEmbedded,
        links: links, admitsGuests: configuration.isDemo))
    let media = Media(
      store: store, host: host, renderer: renderer, fetches: Fetches(store: store),
      glance: PluginGlance(host: host))
    let signed = SignedMedia(media: media, links: links)
    store.observeChanges { [own = media.offers, shared = signed.offers] id in
      own.end(id)
      shared.end(id)
    }
    let streams = EventStreams(of: PushFeed(store: store))
    store.observePushEvents { streams.hurry($0) }
    let events = EventStreams(of: PublisherFeed(store: store))
    preparer = Preparer(store: store, renderer: renderer, validation: assets.validation, log: log)
    store.observeAssets { [preparer] in preparer.hurry() }
    let logins = FailedLogins()
    let authenticator = Authenticator(
      store: store, isDemo: configuration.isDemo, failures: logins)
    let metrics = Metrics()
    let health = Health(
      store: store, access: configuration.metricsAccess,
      instruments: Instruments(
        version: configuration.version, metrics: metrics, renditions: counts, lines: lines,
        host: host, streams: [("push", streams), ("events", events)], lanes: lanes, logins: logins))
    api = API(
      health: health,
      registrations: Registrations(store: store),
      notifications: Notifications(
        store: store, publisher: publisher, standard: configuration.standard),
      media: media, signed: signed,
      details: Details(store: store, host: host, links: links),
      assets: AssetRoutes(store: store, assets: assets), plugins: Plugins(host: host),
      pushes: streams, events: events)
    let reception = Reception(
      router: Router(api.routes), authenticator: authenticator,
      temporaryFolder: store.temporaryFolder, media: media, signed: signed, log: log)
    accessLog = try configuration.accessLog.map { path in try AccessLog(path: path) }
    let courier = EventCourier(
      store: store, webhook: try configuration.push.eventWebhook(), log: log)
    server = try Server(
      place, listeners: listeners, responder: reception, log: { log($0) },
      observer: HTTP.Observer(readsRequest: accessLog != nil) { [accessLog] exchange in
        metrics.count(exchange)
        accessLog?.note(exchange)
      })
    try configuration.warn(of: store, log: log)
    health.watch(server)
    self.lanes = lanes
    watches = Watches(store: store, streams: events, courier: courier, log: log)
    rounds = try configuration.rounds(of: assets, publisher, log: log)
    keeper = Housekeeping(
      store: store, renditionBytes: configuration.renditionBytes, authenticator: authenticator,
      streams: [streams, events], links: links, counts: counts, log: log)
    housekeeping = Mutex(Task.detached(priority: .background) { [keeper] in await keeper.run() })
    for rounds in rounds { rounds.start() }
    host.warmUp()
    preparer.start()
    lanes.start()
    watches.start()
  }

  /// The port that is listened on.
  package var port: Int { server.port }

  /// Reads users, keys and the TLS certificate anew; connections that are open keep the old one.
  package func reload(_ configuration: OriginConfiguration) throws {
    try keeper.reload()
    try accessLog?.reopen()
    if let identity = try configuration.identity() { try server.reload(identity) }
  }

  /// Stops listening, finishes what was begun, and ends.
  package func stop() async {
    housekeeping.withLock { $0.cancel() }
    for rounds in rounds { rounds.stop() }
    preparer.stop()
    watches.stop()
    await server.stop(grace: .seconds(10))
    await lanes.stop()
    accessLog?.flush()
  }
}
