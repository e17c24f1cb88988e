/// The state of a server's plugins.
public struct PluginReport: Sendable, Hashable, Codable {
  /// One plugin.
  public struct Plugin: Sendable, Hashable, Codable {
    /// The processes of it that stay: at work, idle, and the most there may be.
    public struct Processes: Sendable, Hashable, Codable {
      public let idle, busy, most: Int
    }

    /// The rich type it handles.
    public let richType: String
    /// What its author calls this version; may be empty.
    public let version: String
    /// `cgi` or `fastcgi`.
    public let mode: String
    /// What it can be asked.
    public let verbs: [String]
    /// `ready` or `broken`.
    public let state: String
    /// Why it is broken, in one sentence.
    public let problem: String?
    /// How it is isolated, in one line; nil from a server that does not say.
    public let confinement: String?
    /// Its processes.
    public let processes: Processes
    /// How often it was asked since the server started.
    public let calls: Int
    /// How often that ended with 502, 503 or 504.
    public let failures: Int
    /// The cause of the last of these.
    public let lastFailure: String?
    /// Half of its last calls were faster.
    public let medianSeconds: Double?
    /// Of its last calls, 95 in 100 were faster.
    public let slowestSeconds: Double?
  }

  /// How plugins are isolated.
  public struct Sandbox: Sendable, Hashable, Codable {
    /// `standard`, `strict` or `off`.
    public let level: String
    /// What plugins can do although they should not, each in a sentence.
    public let gaps: [String]
  }

  /// All plugins by name.
  public let plugins: [Plugin]
  /// The same for all of them.
  public let sandbox: Sandbox
}
