/// The state and statistics of a server's plugins.
public struct PluginReport: Sendable, Hashable, Codable {
  /// One plugin.
  public struct Plugin: Sendable, Hashable, Codable {
    /// The numbers of its resident processes: idle, busy, and the limit.
    public struct Processes: Sendable, Hashable, Codable {
      public let idle, busy, most: Int
    }

    /// The rich type it handles.
    public let richType: String
    /// Its version; may be empty.
    public let version: String
    /// `cgi` or `fastcgi`.
    public let mode: String
    /// The verbs it handles.
    public let verbs: [String]
    /// `ready` or `broken`.
    public let state: String
    /// Why it is broken, in one sentence.
    public let problem: String?
    /// How it is isolated, in one line.
    public let confinement: String?
    /// Its processes.
    public let processes: Processes
    /// The number of calls since the server started.
    public let calls: Int
    /// The number of those that ended with 502, 503 or 504.
    public let failures: Int
    /// The cause of the last failure.
    public let lastFailure: String?
    /// The median duration of recent calls.
    public let medianSeconds: Double?
    /// The 95th percentile of the durations of recent calls.
    public let slowestSeconds: Double?
  }

  /// How plugins are isolated.
  public struct Sandbox: Sendable, Hashable, Codable {
    /// `standard`, `strict` or `off`.
    public let level: String
    /// What plugins can do although they should not, one sentence each.
    public let gaps: [String]
  }

  /// All plugins by name.
  public let plugins: [Plugin]
  /// How all of them are isolated.
  public let sandbox: Sandbox
}
