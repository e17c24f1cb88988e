import HTTP
import PluginHost
import Push
import Store

/// The application: every room, wired.
package final class Origin: Sendable {
  private let store: Store
  private let streams: PushStreams
  private let catalogue: Catalogue
  private let lanes: Lanes
  private let server: Server

  /// Opens the store, finds the plugins and listens.
  ///
  /// - Throws: the room's error, with a sentence for the operator.
  package init(_ configuration: OriginConfiguration, log: Log) throws {
    let store = try Store(folder: configuration.data)
    var plugins = PluginConfiguration(
      folder: configuration.plugins, binaries: configuration.programs,
      launcher: configuration.programs + "/richpush-exec", temporaryFolder: store.temporaryFolder)
    plugins.log = { log($0) }
    let host = try PluginHost(configuration: plugins)
    let validation = Validation(host: host)
    let folder = DropFolder(path: configuration.assets)
    let assets = Assets(store: store, folder: folder, validation: validation, log: log)
    let renderer = Renderer(store: store, host: host)
    let providers = try configuration.push.providers()
    lanes = Lanes(providers, outbox: store.outbox, log: log)
    let streams = PushStreams(store: store)
    store.observePushEvents { streams.hurry($0) }
    let publisher = Publisher(
      store: store, assets: assets, validation: validation, renderer: renderer,
      announcement: Announcement(store: store, lanes: providers.map(\.name)))
    let api = API(
      registrations: Registrations(store: store),
      notifications: Notifications(
        store: store, publisher: publisher, standard: configuration.standard),
      media: Media(store: store, host: host, renderer: renderer), details: Details(store: store),
      assets: AssetRoutes(store: store, assets: assets), streams: streams)
    let reception = Reception(
      router: Router(api.routes),
      authenticator: Authenticator(store: store, isDemo: configuration.isDemo),
      health: Health(store: store), temporaryFolder: store.temporaryFolder, log: log)
    (self.store, self.streams) = (store, streams)
    catalogue = Catalogue(store: store, folder: folder, assets: assets, log: log)
    var listen = ServerConfiguration()
    (listen.host, listen.port) = (configuration.host, configuration.port)
    server = try Server(listen, responder: reception) { log($0) }
    catalogue.start()
    lanes.start()
  }

  /// The port that is listened on.
  package var port: Int { server.port }

  /// Stops listening, finishes what was begun, and ends the plugins.
  package func stop() async {
    catalogue.stop()
    await server.stop(grace: .seconds(10))
    await lanes.stop()
  }
}
