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
  /// What is wrong with the machine and what the server needs.
  let conditions: [Condition]
  /// The leads that no node has, and what nobody does because of that.
  let vacantLeads: [(name: String, work: String)]

  /// What can need attention beside a ``Condition``: codes of `GET /api/status`.
  enum Code: String, CaseIterable {
    case store
    case leadVacant = "lead.vacant"
    case certificateExpired = "certificate.expired"
    case certificateEarly = "certificate.early"
    case certificatePurpose = "certificate.purpose"
    case certificateHost = "certificate.host"
    case certificateExpires = "certificate.expires"
    case pluginStuck = "plugin.stuck"
    case pluginBroken = "plugin.broken"
    case pluginFailed = "plugin.failed"
    case lanePaused = "lane.paused"
    case laneSlow = "lane.slow"
    case laneOff = "lane.off"
    case devicesUnreached = "devices.unreached"
    case token, webhook
  }

  /// How long a push may wait for a service that is not paused, in seconds.
  private static let patience = 900.0
  /// How long the failure of a plugin is mentioned, in seconds.
  private static let failureAge = 3600.0

  /// What needs attention, the most urgent first.
  ///
  /// To add a condition, add what it needs to this type, a ``Code``, a function here, and its texts for the console.
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
    var found: Found = []
    for problem in readiness where problem.cause == .store {
      guard !found.contains(where: { $0.text == problem.sentence }) else { continue }
      var attention = StatusReport.Attention(.store, .problem, problem.sentence)
      attention.reason = problem.reason
      found.append(attention)
    }
    if records == nil, found.isEmpty {
      found = [.init(.store, .problem, "The database does not respond.")]
    }
    // Said better already.
    let isSaid = conditions.contains {
      $0.code.level == .error && ["disk", "store"].contains($0.code.area)
    }
    return isSaid ? [] : found
  }

  private var leads: Found {
    vacantLeads.map { lead in
      var attention = StatusReport.Attention(
        .leadVacant, .problem,
        """
        No node has had the lead for a minute, so \(lead.work): \
        another program may have its lock.
        """)
      attention.name = lead.name
      return attention
    }
  }

  private static func attention(to condition: Condition) -> StatusReport.Attention {
    var attention = StatusReport.Attention(
      condition.code.rawValue, condition.code.level == .error ? .problem : .warning,
      sentence(condition.sentence))
    (attention.name, attention.count) = (condition.name, condition.count)
    (attention.since, attention.reason) = (condition.since, condition.reason)
    return attention
  }

  /// What the log says, as a sentence.
  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + "."
  }

  private var expiringCertificates: Found {
    certificates.map { problem in
      var attention = StatusReport.Attention(
        problem.code, problem.isFatal ? .problem : .warning, Self.sentence(problem.sentence))
      (attention.name, attention.until) = (problem.file, problem.end)
      return attention
    }
  }

  private var stuckPlugins: Found {
    plugins.filter(\.queue.isStalled).map { status in
      let name = status.plugin.richType
      var attention = StatusReport.Attention(
        .pluginStuck, .problem,
        """
        Calls of the plugin \(name) do not end while others wait: \
        look at what it does, or remove it.
        """)
      attention.name = name
      return attention
    }
  }

  private var pausedLanes: Found {
    (records?.lanes ?? []).compactMap { lane in
      var attention: StatusReport.Attention
      switch lane.state {
      case "paused":
        let until = lane.until.map { " until \($0.formatted(.iso8601))" } ?? ""
        attention = StatusReport.Attention(
          // Devices choose the Web Push services.
          .lanePaused, WebPushLane.origin(of: lane.name) == nil ? .problem : .warning,
          """
          Pushes to \(lane.name) are paused\(until)\(Self.because(lane.reason)). \
          When that is mended, richpush outbox resume --lane \(lane.name), or wait.
          """)
        (attention.until, attention.reason) = (lane.until, lane.reason)
      case "off" where lane.queued > 0:
        attention = StatusReport.Attention(
          .laneOff, .warning,
          """
          \(Self.count(lane.queued, "push waits", "pushes wait")) for \(lane.name), \
          which is not a push service of this server: add it to --push, or cancel them: \
          richpush outbox list --state queued --lane \(lane.name).
          """)
      default: return nil
      }
      (attention.name, attention.count) = (lane.name, lane.queued)
      return attention
    }
  }

  private var slowLanes: Found {
    (records?.lanes ?? []).compactMap { lane in
      guard lane.state == "running", let oldest = lane.oldestWaiting,
        now.timeIntervalSince(oldest) > Self.patience
      else { return nil }
      var attention = StatusReport.Attention(
        .laneSlow, .warning,
        """
        \(Self.count(lane.queued, "push waits", "pushes wait")) for \(lane.name), the oldest \
        since \(oldest.formatted(.iso8601))\(Self.because(lane.reason)).
        """)
      (attention.name, attention.count) = (lane.name, lane.queued)
      (attention.since, attention.reason) = (oldest, lane.reason)
      return attention
    }
  }

  private var unreachedDevices: Found {
    (records?.devices ?? []).compactMap { devices in
      guard devices.service == nil, let gap = gaps[devices.platform] else { return nil }
      var attention = StatusReport.Attention(
        .devicesUnreached, .warning,
        "\(Self.count(devices.count, "device gets", "devices get")) no pushes. \(gap)")
      (attention.name, attention.count) = (devices.platform, devices.count)
      return attention
    }
  }

  private var failingPlugins: Found {
    plugins.compactMap { status in
      let name = status.plugin.richType
      var attention: StatusReport.Attention
      if let problem = status.plugin.problem {
        attention = StatusReport.Attention(
          .pluginBroken, .problem, "The plugin \(name) cannot be used\(Self.because(problem)).")
        attention.reason = problem
      } else if let cause = status.calls.lastFailure, let time = status.calls.lastFailureTime,
        now.timeIntervalSince(time) < Self.failureAge
      {
        attention = StatusReport.Attention(
          .pluginFailed, .warning,
          """
          The plugin \(name) failed at \(time.formatted(.iso8601))\(Self.because(cause)). \
          What it wrote is shown with the plugins.
          """)
        (attention.since, attention.reason) = (time, cause)
      } else {
        return nil
      }
      attention.name = name
      return attention
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
      let (kind, command) =
        token.isWebhook ? ("webhook", "richpush webhook") : ("access token", "richpush token")
      var attention = StatusReport.Attention(
        token.isWebhook ? .webhook : .token, .warning,
        """
        The \(kind) “\(token.name)” of \(token.user) \(when): give its program a new one, \
        \(command) add, and remove this one, \(command) remove \(token.name) --user \(token.user).
        """)
      (attention.name, attention.user, attention.until) = (token.name, token.user, token.expires)
      return attention
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

/// When something that expires is mentioned: in the last quarter of its lifetime, but at most 14 days before its end.
enum ExpiryNotice {
  /// The longest time, in seconds.
  static let longest = 14 * 86_400
  /// The part of the lifetime.
  static let share = 4
}

extension StatusReport.Attention {
  fileprivate init(_ code: StatusFacts.Code, _ level: Level, _ text: String) {
    self.init(code.rawValue, level, text)
  }
}
