import Push

/// What an operator says to `richpush serve`.
package struct OriginConfiguration: Sendable {
  /// The name or address to listen on.
  package var host = "127.0.0.1"
  /// The port to listen on; 0 picks one.
  package var port: UInt16 = 8080
  /// The folder with the store: tables, blobs, renditions.
  package var data = "var"
  /// The drop folder.
  package var assets = "assets"
  /// The folder with the plugins.
  package var plugins = "plugins"
  /// The folder with the programs of ours: `richpush-exec` and the plugins that ship.
  package var programs = "."
  /// The PEM files of the TLS certificate and its key; nil for plain HTTP.
  package var certificate: String?
  /// See `certificate`.
  package var key: String?
  /// How much plugins are shut in: `standard`, `strict` or `off`.
  package var sandbox = "standard"
  /// The rich types whose plugins may open connections, when their manifests ask for it.
  package var network: Set<String> = []
  /// The bytes that renditions may take on the disk.
  package var renditionBytes = 10 << 30
  /// Whether any user whose password is the name may come in; only on loopback.
  package var isDemo = false
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

  /// Takes the services that a list such as `embedded,apns` names.
  ///
  /// - Throws: an error that names the variable that is missing or wrong.
  package mutating func usePush(_ list: String, environment: [String: String]) throws {
    push = try PushConfiguration(list, environment: environment)
  }

  /// The defaults: the current folder, and port 8080 of loopback.
  package init() throws { push = try PushConfiguration("embedded", environment: [:]) }
}
