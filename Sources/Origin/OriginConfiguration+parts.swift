import Media
import FoundationEssentials
import Glibc
import HTTP
import PluginHost
import Store

extension OriginConfiguration {
  /// Where the plugins are and what they may use.
  func plugins(log: Log) -> PluginConfiguration {
    var configuration = PluginConfiguration(
      folder: plugins, executables: programs, launcher: programs + "/richpush-exec",
      temporaryFolder: data + "/tmp")
    configuration.scratchFolder = data + "/scratch"
    configuration.bundledFolder = shippedPlugins
    configuration.uids = uids ?? PluginConfiguration.defaultUIDs
    configuration.user = user.map { ($0.id, $0.group) }
    configuration.sandbox = SandboxReport.Level(rawValue: sandbox) ?? .standard
    configuration.network = network
    configuration.secretPaths = secretPaths
    configuration.log = { log($0) }
    return configuration
  }

  /// What no plugin may read; each entry of the data folder, since it may be a link to another disk.
  private var secretPaths: [String] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: data)) ?? []
    return [data, assets] + entries.filter { $0 != "scratch" }.map { "\(data)/\($0)" } + pushFiles
      + [certificate, key, accessLog].compactMap(\.self)
  }

  /// Logs what the sandbox lacks on this kernel.
  ///
  /// - Throws: `ConfigurationError` when nothing may be lacking.
  func announceSandbox(of host: PluginHost, log: Log) throws {
    let level = try host.sandboxReport().level
    let gaps = try host.sandboxGaps()
    if level == .strict, !gaps.isEmpty {
      throw ConfigurationError(
        "--sandbox strict: \(gaps.joined(separator: " ")) Use --sandbox standard to run anyway")
    }
    log("sandbox: \(level.rawValue)\(gaps.isEmpty ? ", complete on this kernel" : "")")
    for gap in gaps { log("sandbox: \(gap)") }
    for plugin in host.plugins() where plugin.problem == nil {
      log("sandbox: \(plugin.richType): \(try host.confinement(of: plugin))")
    }
    if level == .off { return }
    if let (path, folder) = try host.firstReadable(of: secretPaths) {
      throw ConfigurationError(
        """
        plugins may read \(folder), and \(path) lies there: move it to a folder of its own, such as \
        /var/lib/richpush or /srv
        """)
    }
  }

  /// Checks the options by themselves, before anything is opened.
  ///
  /// - Throws: `ConfigurationError` when it does not.
  package func check() throws {
    var server = ServerConfiguration()
    for proxy in proxies where !server.trust(proxy) {
      throw ConfigurationError("--trusted-proxy is a numeric address such as 10.0.0.2: \(proxy)")
    }
    for origin in origins where !["*", "null"].contains(origin) && !Self.isOrigin(origin) {
      throw ConfigurationError("--cors-origin is * or such as https://app.example: \(origin)")
    }
    for type in network where !Plugin.isValidName(type) {
      throw ConfigurationError("--network is a rich type such as url: \(type)")
    }
    guard Plugin.isValidName(standard.richType) else {
      throw ConfigurationError("--default-type is a rich type such as img: \(standard.richType)")
    }
    guard (certificate == nil) == (key == nil) else {
      throw ConfigurationError("--tls-certificate and --tls-key come together")
    }
  }

  /// Whether a browser would send the text as `Origin`: scheme, host and perhaps a port, nothing else.
  private static func isOrigin(_ text: String) -> Bool {
    guard let url = URL(string: text), url.scheme != nil, url.host?.isEmpty == false else {
      return false
    }
    return url.path.isEmpty && url.query == nil && url.fragment == nil && url.user == nil
  }

  /// Where to listen, and with what certificate.
  func server() throws -> ServerConfiguration {
    var server = ServerConfiguration(host: host, port: port, tls: try identity())
    server.allowedOrigins = origins
    // Guessed passwords are accepted from anywhere on this machine, so from no page that a browser shows.
    if isDemo { server.allowedHosts = publicHost.map { [$0] } ?? [] }
    server.limits.connectionsPerAddress = connectionsPerAddress
    for proxy in proxies { _ = server.trust(proxy) }
    return server
  }

  /// The host of the public address, with its port if it has one.
  private var publicHost: String? {
    publicURL?.split(separator: "/").dropFirst().first.map(String.init)
  }

  /// Logs what an operator has probably forgotten.
  func warn(of store: Store, log: Log) throws {
    if certificate == nil, proxies.isEmpty, !isLoopback {
      log(
        """
        passwords cross the network in the clear: give --tls-certificate and --tls-key, or put a \
        proxy in front (--trusted-proxy)
        """)
    }
    if geteuid() == 0, user == nil, !isDemo {
      log("the server runs as root: with --user NAME it changes to another user once it listens")
    }
    if access(assets + "/.", F_OK) != 0 {
      log(
        "there is no folder \(assets): files can be dropped when it is there; --assets names another"
      )
    }
    if !isDemo, try store.users().isEmpty {
      log("no users yet; add one: richpush user add NAME --role publisher")
    }
  }

  /// Logs which rich types the operator has named that no plugin handles: one may be added later, but
  /// usually it is a typing error.
  func warn(ofTypesBeside plugins: [Plugin], log: Log) {
    guard !plugins.isEmpty else {
      return log("there are no plugins in \(self.plugins); richpush plugin new TYPE makes one")
    }
    let known = plugins.map(\.richType)
    let named = network.sorted().map { ("--network", $0) } + [("--default-type", standard.richType)]
    for (flag, type) in named where !known.contains(type) {
      log(
        "\(flag) \(type): there is no plugin of that name; there are: \(known.joined(separator: ", "))"
      )
    }
    for plugin in plugins where network.contains(plugin.richType) && !plugin.manifest.network {
      log(
        "--network \(plugin.richType): its plugin.json does not ask for the network, so it has none"
      )
    }
  }

  private var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

  /// The TLS certificate and key, read from their files; nil without any.
  func identity() throws -> TLSIdentity? {
    guard let certificate, let key else { return nil }
    return try TLSIdentity(certificate: try Self.text(certificate), key: try Self.text(key))
  }

  private static func text(_ path: String) throws(ConfigurationError) -> String {
    guard let text = try? String(contentsOf: URL(filePath: path), encoding: .utf8) else {
      throw ConfigurationError("the file \(path) cannot be read")
    }
    return text
  }
}

/// What an operator has to fix before the server can start.
package struct ConfigurationError: Error, CustomStringConvertible {
  /// A sentence that says what.
  package let reason: String

  /// The reason: it is made for reading.
  package var description: String { reason }

  init(_ reason: String) { self.reason = reason }
}
