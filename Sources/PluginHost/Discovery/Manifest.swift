/// What a plugin says about itself in `plugin.json`; every member is optional and static.
package struct Manifest: Sendable, Hashable {
  /// How the executable is run.
  package enum Mode: String, Sendable, Decodable {
    case cgi, fastcgi
  }

  /// What one call may use.
  package struct Limits: Sendable, Hashable {
    package var seconds: Int
    package var memoryMiB: Int
    package var outputMiB: Int
  }

  /// How many resident processes there are, and for how long.
  package struct Workers: Sendable, Hashable {
    package var min = 0
    package var max: Int?
    package var idleSeconds = 30
    package var requests = 1000
  }

  /// The version its author gave it.
  package var version = ""
  /// A file name in the plugin's folder, or beside the `richpush` binary; nil means the rich type.
  package var executable: String?
  package var mode = Mode.cgi
  package var verbs: Set<PluginCall.Verb> = [.render]
  /// Media ranges of the assets it takes.
  package var accepts = ["*/*"]
  /// Media ranges of the answers it gives.
  package var produces = ["*/*"]
  /// Query names it reads beyond the options.
  package var query: [String] = []
  /// What it takes for a query name that is not given, by name; to give it changes nothing.
  package var defaults: [String: String] = [:]
  /// Whether the answer depends on who asks.
  package var perUser = false
  /// Whether it asks for network sockets.
  package var network = false
  package var limits = Limits(seconds: 10, memoryMiB: 512, outputMiB: 20)
  package var workers = Workers()
}
