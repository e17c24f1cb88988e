import HTTP
import PluginHost
import Push
import Store
import Synchronization

/// The application: every room, wired.
package final class Origin: Sendable {
  private let catalogue: Catalogue
  private let lanes: Lanes
  private let server: Server
  private let housekeeping: Mutex<Task<Void, Never>>

  /// Opens the store, finds the plugins and listens.
  ///
  /// - Throws: a room's error, with a sentence for the operator.
  package init(_ configuration: OriginConfiguration, log: Log) throws {
    let store = try Store(folder: configuration.data)
    let host = try PluginHost(configuration: configuration.plugins(for: store, log: log))
    try configuration.announceSandbox(of: host, log: log)
    if host.plugins().isEmpty { log("there are no plugins in \(configuration.plugins)") }
    let providers = try configuration.push.providers()
    let lanes = Lanes(providers, outbox: store.outbox, log: log)
    let assets = Assets(
      store: store, folder: DropFolder(path: configuration.assets),
      validation: Validation(host: host), log: log)
    let renderer = Renderer(store: store, host: host)
    let publisher = Publisher(
      store: store, assets: assets, validation: assets.validation, renderer: renderer,
      announcement: Announcement(
        store: store, lanes: providers.map(\.name), isEmbedded: configuration.push.isEmbedded))
    let streams = PushStreams(store: store)
    store.observePushEvents { streams.hurry($0) }
    let api = API(
      registrations: Registrations(store: store),
      notifications: Notifications(
        store: store, publisher: publisher, standard: configuration.standard),
      media: Media(store: store, host: host, renderer: renderer, fetches: Fetches(store: store)),
      details: Details(store: store),
      assets: AssetRoutes(store: store, assets: assets), streams: streams)
    let authenticator = Authenticator(store: store, isDemo: configuration.isDemo)
    let metrics = Metrics()
    let health = Health(store: store, metrics: metrics, streams: streams, lanes: lanes)
    let reception = Reception(
      router: Router(api.routes), authenticator: authenticator, health: health,
      temporaryFolder: store.temporaryFolder, log: log)
    server = try Server(
      configuration.server(), responder: reception, log: { log($0) }, observe: metrics.count)
    health.watch(server)
    self.lanes = lanes
    catalogue = Catalogue(store: store, folder: assets.folder, assets: assets, log: log)
    let keeper = Housekeeping(
      store: store, renditionBytes: configuration.renditionBytes, authenticator: authenticator,
      streams: streams, log: log)
    housekeeping = Mutex(Task.detached(priority: .background) { await keeper.run() })
    catalogue.start()
    lanes.start()
  }

  /// The port that is listened on.
  package var port: Int { server.port }

  /// Reads the TLS certificate and key anew; connections that are open keep the old ones.
  package func reload(_ configuration: OriginConfiguration) throws {
    if let identity = try configuration.identity() { try server.reload(identity) }
  }

  /// Stops listening, finishes what was begun, and ends.
  package func stop() async {
    housekeeping.withLock { $0.cancel() }
    catalogue.stop()
    await server.stop(grace: .seconds(10))
    await lanes.stop()
  }
}
