import FoundationEssentials
import PluginHost
import Primitives
import Push
import RichPushAPI

/// What is known of the server, of which ``attention`` says what somebody has to do.
struct StatusFacts: Sendable {
  let now: Date
  /// What keeps the server from serving devices or publishers.
  let readiness: [Readiness.Problem]
  let certificates: [CertificateProblem]
  /// Nil while the database does not respond.
  let records: StatusReport.Records?
  /// Why devices of a platform get no pushes, for each without a push service.
  let gaps: [String: String]
  let plugins: [PluginStatus]
  /// What is wrong with disks, the clock and the database.
  let conditions: [Condition]
  /// What nobody does, because no node has the lead for it.
  let vacantLeads: [String]

  /// When an access token is mentioned: so long before its end and after it, in seconds.
  static let tokenNotice = 14.0 * 86_400
  /// How long a push may wait for a service that is not paused, in seconds.
  private static let patience = 900.0
  /// How long the failure of a plugin is mentioned, in seconds.
  private static let failureAge = 3600.0

  /// What needs attention, the most urgent first.
  ///
  /// To add a condition, add what it needs to this type, and a function here; its code is a part of the API.
  var attention: [StatusReport.Attention] {
    let all = [
      conditions.reversed().map(Self.attention(to:)), stores, leads, expiringCertificates,
      stuckPlugins, pausedLanes, slowLanes,
      unreachedDevices, failingPlugins, endingTokens,
    ].joined()
    return all.filter { $0.level == .problem } + all.filter { $0.level != .problem }
  }

  private typealias Found = [StatusReport.Attention]

  private var stores: Found {
    var sentences: [String] = []
    for problem in readiness where problem.cause == .store {
      if !sentences.contains(problem.sentence) { sentences.append(problem.sentence) }
    }
    if records == nil, sentences.isEmpty { sentences = ["The database does not respond."] }
    // Said better already.
    guard !conditions.contains(where: { $0.code.level == .error }) else { return [] }
    return sentences.map { .init("store", .problem, $0) }
  }

  private var leads: Found {
    vacantLeads.map {
      .init(
        "lead.vacant", .problem,
        """
        No node has had the lead for a minute, so \($0): \
        another program may have its lock.
        """)
    }
  }

  private static func attention(to condition: Condition) -> StatusReport.Attention {
    .init(
      condition.code.rawValue, condition.code.level == .error ? .problem : .warning,
      sentence(condition.sentence))
  }

  /// What the log says, as a sentence.
  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + "."
  }

  private var expiringCertificates: Found {
    certificates.map {
      .init(
        "certificate", $0.isFatal ? .problem : .warning, Self.sentence($0.sentence))
    }
  }

  private var stuckPlugins: Found {
    plugins.filter(\.queue.isStalled).map {
      .init(
        "plugin.stuck", .problem,
        """
        Calls of the plugin \($0.plugin.richType) do not end while others wait: \
        look at what it does, or remove it.
        """
      )
    }
  }

  private var pausedLanes: Found {
    (records?.lanes ?? []).compactMap { lane in
      switch lane.state {
      case "paused":
        let until = lane.until.map { " until \($0.formatted(.iso8601))" } ?? ""
        // Devices choose the Web Push services.
        let level: StatusReport.Attention.Level =
          WebPushLane.origin(of: lane.name) == nil ? .problem : .warning
        return .init(
          "lane.paused", level,
          """
          Pushes to \(lane.name) are paused\(until)\(Self.because(lane.reason)). \
          When that is mended, resume them, or wait.
          """
        )
      case "off" where lane.queued > 0:
        return .init(
          "lane.off", .warning,
          """
          \(Self.count(lane.queued, "push waits", "pushes wait")) for \(lane.name), \
          which is not a push service of this server: add it to --push, or cancel them.
          """
        )
      default: return nil
      }
    }
  }

  private var slowLanes: Found {
    (records?.lanes ?? []).compactMap { lane in
      guard lane.state == "running", let oldest = lane.oldestWaiting,
        now.timeIntervalSince(oldest) > Self.patience
      else { return nil }
      return .init(
        "lane.slow", .warning,
        """
        \(Self.count(lane.queued, "push waits", "pushes wait")) for \(lane.name), the oldest \
        since \(oldest.formatted(.iso8601))\(Self.because(lane.reason)).
        """
      )
    }
  }

  private var unreachedDevices: Found {
    (records?.devices ?? []).compactMap { devices in
      guard devices.service == nil, let gap = gaps[devices.platform] else { return nil }
      return .init(
        "devices.unreached", .warning,
        "\(Self.count(devices.count, "device gets", "devices get")) no pushes. \(gap)")
    }
  }

  private var failingPlugins: Found {
    plugins.compactMap { status in
      let name = status.plugin.richType
      if let problem = status.plugin.problem {
        return .init(
          "plugin.broken", .problem, "The plugin \(name) cannot be used\(Self.because(problem)).")
      }
      guard let cause = status.calls.lastFailure, let time = status.calls.lastFailureTime,
        now.timeIntervalSince(time) < Self.failureAge
      else { return nil }
      return .init(
        "plugin.failed", .warning,
        """
        The plugin \(name) failed at \(time.formatted(.iso8601))\(Self.because(cause)). \
        What it wrote is shown with the plugins.
        """
      )
    }
  }

  private var endingTokens: Found {
    (records?.accessTokens ?? []).map { token in
      let seconds = token.expires.timeIntervalSince(now)
      let days = Int((abs(seconds) / 86_400).rounded())
      let number = Self.count(days, "day", "days")
      let when =
        switch (days, seconds > 0) {
        case (0, true): "ends today"
        case (0, false): "ended today"
        case (_, true): "ends in \(number)"
        default: "ended \(number) ago"
        }
      return .init(
        "token", .warning,
        """
        The access token “\(token.name)” of \(token.user) \(when): \
        give its program a new one, and remove this one.
        """
      )
    }
  }

  private static func count(_ number: Int, _ one: String, _ more: String) -> String {
    "\(number) \(number == 1 ? one : more)"
  }

  /// A reason, which may be a sentence, after a colon; nothing without one.
  private static func because(_ reason: String?) -> String {
    reason.map { ": " + ($0.hasSuffix(".") ? String($0.dropLast()) : $0) } ?? ""
  }
}
