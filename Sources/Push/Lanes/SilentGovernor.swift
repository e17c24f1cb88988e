package import FoundationEssentials

/// Keeps the pushes that wake an app unseen within what Apple lets through: three an hour a device.
package struct SilentGovernor: Sendable {
  /// The most silent pushes to one device within ``window``.
  package static let limit = 3
  /// Why a push did not go out silently, for its receipt.
  static let reason = "the device had \(limit) silent pushes within the hour."
  /// The time that is looked back upon, in seconds.
  package static let window: TimeInterval = 3600

  /// What to do with one push.
  package enum Decision: Sendable, Equatable {
    /// Send it as it is.
    case send
    /// Send the alert form instead, alone or with others that the device is to get now.
    case fallBack(to: PushText)
    /// Keep it until then; a newer push with its collapse id may replace it meanwhile.
    case hold(until: Date, reason: String)
  }

  /// Decides on a job while `underWay` silent pushes to its device are not yet accounted for.
  package static func decide(on job: PushJob, underWay: Int, at now: Date) -> Decision {
    guard job.push.text.kind == .background else { return .send }
    let recent = job.recentWakes.filter { $0 > now - window }.sorted()
    guard recent.count + underWay >= limit else { return .send }
    if let fallback = job.fallback {
      return .fallBack(to: fallback)
    }
    return .hold(
      until: (recent.first ?? now) + window,
      reason: "Held back: " + reason)
  }
}
