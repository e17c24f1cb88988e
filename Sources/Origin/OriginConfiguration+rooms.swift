import FoundationEssentials
import HTTP
import PluginHost
import Store

extension OriginConfiguration {
  /// Where the plugins are and what they may use.
  func plugins(for store: Store, log: Log) -> PluginConfiguration {
    var configuration = PluginConfiguration(
      folder: plugins, binaries: programs, launcher: programs + "/richpush-exec",
      temporaryFolder: store.temporaryFolder)
    configuration.sandbox = SandboxReport.Level(rawValue: sandbox) ?? .standard
    configuration.network = network
    configuration.log = { log($0) }
    return configuration
  }

  /// Says once what the sandbox lacks on this kernel.
  ///
  /// - Throws: `ConfigurationError` when nothing may be lacking.
  func announceSandbox(of host: PluginHost, log: Log) throws {
    let report = try host.sandboxReport()
    log(
      "sandbox: \(report.level.rawValue)\(report.gaps.isEmpty ? ", complete on this kernel" : "")")
    for gap in report.gaps { log("sandbox: \(gap)") }
    if report.level == .strict, !report.gaps.isEmpty {
      throw ConfigurationError(
        "--sandbox strict: \(report.gaps.joined(separator: " ")) Use --sandbox standard to run anyway"
      )
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
