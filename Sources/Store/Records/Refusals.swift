package import FoundationEssentials

/// A lane as it sends now.
package struct SendingLane: Sendable, Equatable {
  /// The lane's name.
  package let name: String
  /// Identifies the settings with which it sends: what a service refuses under others says nothing about a device.
  package let settings: String
  /// What the names of all lanes to services that devices choose begin with, such as `webpush:`; nil for a lane to
  /// a service that the operator has chosen.
  package let family: String?

  /// Names a lane and its settings.
  package init(_ name: String, settings: String = "", family: String? = nil) {
    (self.name, self.settings, self.family) = (name, settings, family)
  }
}

/// What a lane gets from the outbox.
package struct Lease: Sendable, Equatable {
  /// The jobs to send.
  package var jobs: [LeasedJob] = []
  /// Why and until when the lane sends nothing but a probe; nil while it sends.
  package var pause: LanePause?
  /// The number of registrations that ended with the outcomes.
  package var ended = 0
}

/// Why a lane sends nothing until an operator has acted.
package struct LanePause: Sendable, Equatable {
  /// The lane's name.
  package let lane: String
  /// Since when.
  package let since: Date
  /// When the next probe is sent.
  package let until: Date
  /// A sentence for the operator.
  package let reason: String

  /// Whether the next probe may be sent; also if the clock was set back by more than any pause lasts.
  func isOver(at now: Date) -> Bool { until <= now || until > Self.latestEnd(at: now) }

  /// After this time no pause ends that has begun.
  static func latestEnd(at now: Date) -> Date { now + 2 * length(after: .max) }

  /// How long it waits after so many probes, in seconds: from a minute to a quarter of an hour.
  static func length(after probes: Int) -> TimeInterval {
    Double(min(60 << min(probes, 4), 900))
  }
}

/// When a service that refuses devices is believed.
///
/// A service refuses all devices when a setting is wrong: the environment, the topic, the project, a proxy. So a refused
/// push waits, and its registration stays, until the service has accepted another one.
enum RefusalRule {
  /// So many refused pushes in a row raise a doubt about the service.
  static let doubt = 20
  /// So many of one user's count: a user must not stop a service for all others.
  static let doubtPerUser = 5
  /// How many pushes are sent then, to the devices that were heard of last.
  static let trials = 50
  /// Among how many of the pushes that are due longest those are looked for.
  static let trialCandidates = 10_000
  /// A service with fewer registrations than this can't prove itself: a success at any other one counts.
  static let smallService = 20
  /// What ended a registration whose device was silent, in place of a lane.
  static let silence = "silence"
  /// How long a registration is kept after it ended, in seconds.
  static let endedAge: TimeInterval = 30 * 86_400

  /// Why a lane is paused whose service has refused all; `last` is its last answer.
  static func sentence(lane: String, refused: Int, last: String) -> String {
    let service = lane.prefix { $0 != ":" }
    return """
      The service has refused the last \(refused) pushes. No registration has ended for that, and the pushes wait. \
      Check the settings of \(service), then run: richpush push resume --lane \(lane). Its last answer: \(last)
      """
  }
}

/// What is known of a lane before jobs are leased.
struct LaneCondition {
  /// Nil if it is not paused.
  let pause: LanePause?
  /// How many probes were sent since the pause began.
  let probes: Int
  /// How many pushes were sent because of the doubt.
  let trials: Int
  /// How many pushes in a row are refused, at most ``RefusalRule/doubt``.
  let refused: Int
  /// The same, with at most ``RefusalRule/doubtPerUser`` of a user.
  let widelyRefused: Int
  /// Whether the operator has to act, whatever was refused.
  let isStopped: Bool

  /// Takes the columns that `condition(of:)` reads; those of a lane without a row in `lane_pause` are nil.
  init(
    _ lane: String, since: Date?, until: Date?, reason: String?, probes: Int?, trials: Int?,
    stopped: Int?, refused: Int, widelyRefused: Int
  ) {
    pause =
      if let since, let until {
        LanePause(lane: lane, since: since, until: until, reason: reason ?? "")
      } else {
        nil
      }
    (self.probes, self.trials, isStopped) = (probes ?? 0, trials ?? 0, stopped ?? 0 > 0)
    (self.refused, self.widelyRefused) = (refused, widelyRefused)
  }

  /// Whether the service may refuse everybody, and not only the devices of a few users.
  var isDoubtful: Bool { widelyRefused >= RefusalRule.doubt }

  /// Whether only probes are sent while it is paused.
  var isClosed: Bool { isStopped || isDoubtful || refused < RefusalRule.doubt }
}
