import FoundationEssentials
import HTTP
import Push

/// The options of `richpush serve`.
package struct OriginConfiguration: Sendable {
  /// The name or address to listen on.
  package var host = "127.0.0.1"
  /// The port to listen on; 0 picks one.
  package var port: UInt16 = 8080
  /// The folder with the store: tables, blobs, renditions.
  package var data = "var"
  /// The drop folder.
  package var assets = "assets"
  /// The permissions that new files and folders in the drop folder do not get (umask(2)).
  package var mask: UInt32 = 0o022
  /// The folder with the plugins.
  package var plugins = "plugins"
  /// The folder with the plugins that ship, for rich types that ``plugins`` does not have; nil for none.
  package var shippedPlugins: String?
  /// The folder with `richpush-exec` and the executables of the plugins that ship.
  package var programs = "."
  /// The PEM files of the TLS certificate and its key; nil for plain HTTP.
  package var certificate: String?
  /// See `certificate`.
  package var key: String?
  /// The public URL of this server, such as `https://push.example`, for links in pushes.
  package private(set) var publicURL: String?
  /// The version of the program, for `/metrics`.
  package var version = ""
  /// The access log, a line of JSON for each response; `-` is standard output, nil none.
  package var accessLog: String?
  /// Origins whose pages may read responses (CORS); `*` means all.
  package var origins: Set<String> = []
  /// The proxies whose X-Forwarded fields are believed: numeric addresses.
  package var proxies: [String] = []
  /// The most open connections of one address.
  package var connectionsPerAddress = 2000
  /// How plugins are isolated: `standard`, `strict` or `off`.
  package var sandbox = "standard"
  /// The user that the server changes to once it listens; nil keeps the one it was started by.
  package var user: ServerUser?
  /// The user IDs that plugins may get; nil for the usual range.
  package var uids: ClosedRange<Int>?
  /// The rich types whose plugins may open connections, when their manifests ask for it.
  package var network: Set<String> = []
  /// The most bytes of renditions on the disk.
  package var renditionBytes = 10 << 30
  /// Whether any name is accepted with the same word as password; only on loopback.
  package var isDemo = false
  /// The sender of dropped files; nil if dropping publishes nothing.
  package var publishAs: String?
  /// The notification that the tutorial's empty POST creates.
  package var standard = Standard()

  /// The defaults of the tutorial's server.
  package struct Standard: Sendable {
    package var message = "Check this image out!"
    package var richType = "img"
    package var payload = "logo.png"
  }

  /// The environment variables that ``usePush(_:environment:)`` reads.
  package static let pushVariables = PushConfiguration.variables

  /// The push services.
  private(set) var push: PushConfiguration
  /// The files with the credentials of the push services.
  private(set) var pushFiles: [String] = []

  /// Takes the services that a list such as `embedded,apns` names.
  ///
  /// - Throws: an error that names the variable that is missing or wrong.
  package mutating func usePush(_ list: String, environment: [String: String]) throws {
    push = try PushConfiguration(list, environment: environment)
    pushFiles = PushConfiguration.variables.filter { $0.hasSuffix("_FILE") }
      .compactMap { environment[$0] }
  }

  /// Sets the public URL of this server, with a proxy's path if there is one.
  ///
  /// - Throws: `ConfigurationError` when it is none.
  package mutating func usePublicURL(_ text: String) throws {
    let address = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard let url = URL(string: address), ["http", "https"].contains(url.scheme),
      url.host?.isEmpty == false, url.query == nil, url.fragment == nil, url.user == nil
    else {
      throw ConfigurationError("--public-url is an address such as https://push.example: \(text)")
    }
    publicURL = address
  }

  /// Who may read `/metrics`.
  private(set) var metricsAccess: MetricsAccess

  /// Lets others than this machine read `/metrics`: addresses, prefixes such as `10.0.0.0/8`, and
  /// bearer tokens written `token:SECRET`.
  ///
  /// - Throws: `ConfigurationError` when an entry is none of these.
  package mutating func allowMetrics(_ entries: [String]) throws {
    metricsAccess = try MetricsAccess(entries)
  }

  /// Gets this process as many file descriptors as it may have, before anything needs them.
  ///
  /// - Throws: an error with a sentence when they are too few for a server.
  package static func prepareDescriptors() throws { try DescriptorLimit.requireEnough() }

  /// The defaults: the current folder, and port 8080 of loopback.
  package init() throws {
    push = try PushConfiguration("embedded", environment: [:])
    metricsAccess = try MetricsAccess()
  }
}
