#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The state and statistics of a server's plugins.
public struct PluginReport: Sendable, Equatable, Codable {
  /// One plugin.
  public struct Plugin: Sendable, Equatable, Codable {
    /// The numbers of its resident processes: idle, busy, and the limit.
    public struct Processes: Sendable, Equatable, Codable {
      public let idle, busy, most: Int

      /// Creates the numbers.
      package init(idle: Int, busy: Int, most: Int) {
        (self.idle, self.busy, self.most) = (idle, busy, most)
      }
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
    @Nullable public var problem: String?
    /// How it is isolated, in one line.
    @Nullable public var confinement: String?
    /// Its processes.
    public let processes: Processes
    /// The number of calls since the server started.
    public let calls: Int
    /// The number of calls that ended with 502, 503 or 504.
    public let failures: Int
    /// The cause of the last failure.
    @Nullable public var lastFailure: String?
    /// When that was.
    @Nullable public var lastFailureTime: Date?
    /// The end of what the plugin wrote to its standard error in that call.
    @Nullable public var lastFailureOutput: String?
    /// The median duration of recent calls.
    @Nullable public var medianSeconds: Double?
    /// The 95th percentile of the durations of recent calls.
    @Nullable public var slowestSeconds: Double?

    /// Creates the report of one plugin; that of the last failure can be added afterwards.
    package init(
      richType: String, version: String, mode: String, verbs: [String], problem: String?,
      confinement: String, processes: Processes, calls: Int, failures: Int, medianSeconds: Double?,
      slowestSeconds: Double?
    ) {
      (self.richType, self.version, self.mode, self.verbs) = (richType, version, mode, verbs)
      (state, self.processes) = (problem == nil ? "ready" : "broken", processes)
      (self.calls, self.failures) = (calls, failures)
      self.problem = problem
      self.confinement = confinement
      (self.medianSeconds, self.slowestSeconds) = (medianSeconds, slowestSeconds)
    }
  }

  /// How plugins are isolated.
  public struct Sandbox: Sendable, Equatable, Codable {
    /// `standard`, `strict` or `off`.
    public let level: String
    /// What plugins can do although they should not, one sentence each.
    public let gaps: [String]

    /// Creates the report.
    package init(level: String, gaps: [String]) { (self.level, self.gaps) = (level, gaps) }
  }

  /// All plugins by name.
  public let plugins: [Plugin]
  /// How all of them are isolated.
  public let sandbox: Sandbox

  /// Creates the report.
  package init(plugins: [Plugin], sandbox: Sandbox) {
    (self.plugins, self.sandbox) = (plugins, sandbox)
  }
}
