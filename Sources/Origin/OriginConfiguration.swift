import FoundationEssentials
import HTTP
import Media
import Push

/// The options of `richpush serve`.
package struct OriginConfiguration: Sendable {
  /// The name or address to listen on.
  package var host = "127.0.0.1"
  /// The port to listen on; 0 picks one.
  package var port: UInt16 = 8080
  /// The folder with the store: tables, blobs, renditions.
  package var data = "var"
  /// The URL of a PostgreSQL database, which has the tables of all nodes; nil for one in ``data``.
  package var database: String?
  /// The drop folder.
  package var assets = "assets"
  /// The permissions that new files and folders in the drop folder must not have (umask(2)).
  package var mask: UInt32 = 0o022
  /// The folder with the plugins.
  package var plugins = "plugins"
  /// More folders with plugins, for rich types that the ones before do not have.
  package var furtherPlugins: [String] = []
  /// The folder of `richpush-exec` and the built-in plugins' executables.
  package var programs = "."
  /// The PEM files of the TLS certificate and its key; nil for plain HTTP.
  package var certificate: String?
  /// See `certificate`.
  package var key: String?
  /// The public URL of this server, such as `https://push.example`, for links in pushes.
  package private(set) var publicURL: String?
  /// Sockets that listen already (systemd's socket activation), instead of ``host`` and ``port``.
  package var listeningSockets: [Int32] = []
  /// The version of the program, for `/metrics`.
  package var version = ""
  /// The file of the access log; `-` is standard output, nil for none.
  package var accessLog: String?
  /// Origins whose pages may read responses (CORS); `*` means all.
  package var origins: Set<String> = []
  /// The proxies whose X-Forwarded fields are believed: numeric addresses.
  package var proxies: [String] = []
  /// The most open connections of one address.
  package var connectionsPerAddress = 2000
  /// How plugins are isolated: `standard`, `strict` or `off`.
  package var sandbox = "standard"
  /// The user that the server changes to once it listens; nil keeps the one that started it.
  package var user: ServerUser?
  /// The user IDs for plugins; nil for the default range.
  package var uids: ClosedRange<Int>?
  /// The rich types whose plugins may use the network, if their manifests request it.
  package var network: Set<String> = []
  /// The most bytes of renditions on the disk.
  package var renditionBytes = 10 << 30
  /// The object store that has the content; nil if the data folder has it.
  package var objects: ObjectStoreSettings?
  /// The most bytes of blobs on the disk, if there is an object store.
  package var objectCacheBytes = 10 << 30
  /// Demo mode: any user name is accepted with the same word as password; only on loopback.
  package var isDemo = false
  /// Whether `/push/` has the page with which browsers register for pushes.
  package var hasPushPage = false
  /// Whether `/console/` has the console, and `/` leads to it.
  package var hasConsole = false
  /// The user in whose name dropped files are published; nil disables publishing them.
  package var publishAs: String?
  /// How long a dropped file is unchanged before it is published, in seconds.
  package var settle = 2.0
  /// The notification that the tutorial's POST without a body creates.
  package var standard = Standard()

  /// The content of that notification; the defaults are the tutorial's.
  package struct Standard: Sendable {
    package var message = "Check this image out!"
    package var richType = "img"
    package var payload = "logo.png"
  }

  /// The names of the push services, as a list for people.
  package static let pushServices = PushServices.names.joined(separator: ", ")

  /// The environment variables that ``usePush(_:environment:contact:allowed:)`` reads.
  package static let pushVariables = PushConfiguration.variables.map { name, explanation in
    let isSecret = name.hasSuffix("_SECRET") || name.hasSuffix("_STRING")
    return (name: name, explanation: explanation, isSecret: isSecret)
  }

  /// The push services.
  private(set) var push: PushConfiguration
  /// The files with the credentials of the push services.
  private(set) var pushFiles: [String] = []

  /// Uses the push services in a list such as `embedded,apns`.
  ///
  /// For Web Push, `contact` is where services reach the operator, and `allowed` has the hosts and ports whose
  /// addresses need not be public. Set ``isDemo`` before.
  ///
  /// - Throws: an error that names a missing or invalid environment variable or option.
  package mutating func usePush(
    _ list: String, environment: [String: String], contact: String? = nil, allowed: [String] = []
  ) throws {
    push = try PushConfiguration(list, environment: environment) {
      [isDemo] () throws(PushError) in
      try WebPushSettings(contact: contact, allowed: allowed, isDemo: isDemo)
    }
    pushFiles = PushConfiguration.variables.map(\.name).filter { $0.hasSuffix("_FILE") }
      .compactMap { environment[$0] }
  }

  /// Sets the public URL of this server, with a proxy's path if there is one.
  ///
  /// - Throws: `OperatorError` if it is not a URL.
  package mutating func usePublicURL(_ text: String) throws {
    let address = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard let url = URL(string: address), ["http", "https"].contains(url.scheme),
      url.host?.isEmpty == false, url.query == nil, url.fragment == nil, url.user == nil
    else {
      throw OperatorError("--public-url must be a URL such as https://push.example, not \(text)")
    }
    publicURL = address
  }

  /// Who may read `/metrics`.
  private(set) var metricsAccess: MetricsAccess

  /// Allows clients on other machines to read `/metrics`: addresses, networks such as `10.0.0.0/8`,
  /// and bearer tokens written `token:SECRET`.
  ///
  /// - Throws: `OperatorError` if an entry is none of these.
  package mutating func allowMetrics(_ entries: [String]) throws {
    metricsAccess = try MetricsAccess(entries)
  }

  /// Raises the limit of open files as far as possible.
  ///
  /// - Throws: an error that says so if it is too low for a server.
  package static func prepareDescriptors() throws { try DescriptorLimit.requireEnough() }

  /// The defaults: the current folder, and port 8080 of loopback.
  package init() throws {
    push = try PushConfiguration(EmbeddedGateway.name, environment: [:])
    metricsAccess = try MetricsAccess()
  }
}
