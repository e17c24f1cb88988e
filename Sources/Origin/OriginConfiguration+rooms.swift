import FoundationEssentials
import Glibc
import HTTP
import PluginHost
import Store

extension OriginConfiguration {
  /// Where the plugins are and what they may use.
  func plugins(log: Log) -> PluginConfiguration {
    var configuration = PluginConfiguration(
      folder: plugins, binaries: programs, launcher: programs + "/richpush-exec",
      temporaryFolder: data + "/tmp")
    configuration.scratchFolder = data + "/scratch"
    configuration.uids = uids ?? PluginConfiguration.usualUIDs
    configuration.user = user.map { ($0.id, $0.group) }
    configuration.sandbox = SandboxReport.Level(rawValue: sandbox) ?? .standard
    configuration.network = network
    configuration.log = { log($0) }
    return configuration
  }

  /// Says once what the sandbox lacks on this kernel.
  ///
  /// - Throws: `ConfigurationError` when nothing may be lacking.
  func announceSandbox(of host: PluginHost, log: Log) throws {
    let level = try host.sandboxReport().level
    let gaps = try host.gaps()
    if level == .strict, !gaps.isEmpty {
      throw ConfigurationError(
        "--sandbox strict: \(gaps.joined(separator: " ")) Use --sandbox standard to run anyway")
    }
    log("sandbox: \(level.rawValue)\(gaps.isEmpty ? ", complete on this kernel" : "")")
    for gap in gaps { log("sandbox: \(gap)") }
    for plugin in host.plugins() {
      log("sandbox: \(plugin.richType): \(try host.confinement(of: plugin))")
    }
    if level == .off { return }
    let secret = [data, assets] + [certificate, key, accessLog].compactMap(\.self)
    if let (path, folder) = try host.exposed(secret) {
      throw ConfigurationError(
        """
        plugins may read \(folder), and \(path) lies there: move it to a folder of its own, such as \
        /var/lib/richpush or /srv
        """)
    }
  }

  /// Where to listen, and with what certificate.
  func server() throws -> ServerConfiguration {
    var server = ServerConfiguration(host: host, port: port, tls: try identity())
    server.origins = origins
    // Guessed passwords are accepted from anywhere on this machine, so from no page that a browser shows.
    if isDemo { server.hosts = publicHost.map { [$0] } ?? [] }
    server.limits.connectionsPerAddress = connectionsPerAddress
    for proxy in proxies {
      guard server.trust(proxy) else {
        throw ConfigurationError("--trusted-proxy is a numeric address such as 10.0.0.2: \(proxy)")
      }
    }
    return server
  }

  /// The host of the public address, with its port if it has one.
  private var publicHost: String? {
    publicURL?.split(separator: "/").dropFirst().first.map(String.init)
  }

  /// Says what an operator has likely forgotten.
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
    if !isDemo, try store.users().isEmpty {
      log("nobody can come in yet: add somebody with richpush user add")
    }
  }

  private var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

  /// The TLS certificate and key, read from their files; nil without any.
  func identity() throws -> TLSIdentity? {
    guard let certificate, let key else {
      guard certificate == nil, key == nil else {
        throw ConfigurationError("--tls-certificate and --tls-key come together")
      }
      return nil
    }
    return try TLSIdentity(certificate: try Self.text(certificate), key: try Self.text(key))
  }

  private static func text(_ path: String) throws(ConfigurationError) -> String {
    guard let text = try? String(contentsOf: URL(filePath: path), encoding: .utf8) else {
      throw ConfigurationError("the file \(path) cannot be read")
    }
    return text
  }
}

/// What an operator must mend before the server can start.
package struct ConfigurationError: Error, CustomStringConvertible {
  /// A sentence that says what.
  package let reason: String

  /// The reason: it is made for reading.
  package var description: String { reason }

  init(_ reason: String) { self.reason = reason }
}
