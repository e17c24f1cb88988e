package import FoundationEssentials

/// The state of one running lane; only its loop touches it.
struct LaneLoopState {
  /// The time between two commits, in seconds, unless enough has finished or nothing is under way.
  static let commitInterval: TimeInterval = 0.05

  var breaker = CircuitBreaker()
  /// The pause until the operator has acted, as the outbox has it.
  var pause: PushPause?
  /// Refusals in a row, and when the last push began that was accepted.
  private var (refusals, lastAccepted) = (0, Date.distantPast)
  /// Whether the last exchange with the outbox failed; a failure is logged once.
  var hasOutboxFailed = false
  /// What is to be recorded with the next commit.
  private(set) var settlements: [Settlement] = []
  private var jobs: [Int: PushJob] = [:]
  private var silentPushes: [OutgoingPush.Target: Int] = [:]

  /// Leased jobs that are not settled yet.
  var inFlight: Int { jobs.count }

  /// Leased jobs whose outcome is not known yet.
  var awaitingOutcome: Int { jobs.count - settlements.count }

  /// Adds a leased job; false if it is already in flight, because its lease ended early.
  mutating func begin(_ job: PushJob) -> Bool {
    guard jobs.updateValue(job, forKey: job.id) == nil else { return false }
    if job.push.text.kind == .background { silentPushes[job.push.target, default: 0] += 1 }
    return true
  }

  /// Whether to delay the next commit until a little after the last, so that it holds more.
  func shouldDelayCommit(since last: Date, at now: Date, commitSize: Int) -> Bool {
    last <= now && now < last + Self.commitInterval && awaitingOutcome > 0
      && settlements.count < commitSize
  }

  mutating func settle(_ job: PushJob, _ outcome: Settlement.Outcome) {
    settlements.append(Settlement(job: job.id, outcome: outcome))
  }

  /// Whether a refusal counts at once: the service has just accepted another push that began with it or later.
  ///
  /// Must be called for all outcomes, in the order of the answers.
  mutating func isBelieved(_ outcome: PushOutcome, began: Date) -> Bool {
    switch outcome {
    case .delivered:
      refusals = 0
      lastAccepted = max(lastAccepted, began)
      return true
    case .deadToken, .refused:
      refusals += 1
      return refusals < Self.doubt && began <= lastAccepted
    default: return true
    }
  }

  /// Whether the last refusal was the first since a push was accepted.
  var isFirstRefusal: Bool { refusals == 1 }

  /// So many refusals in a row raise a doubt about the service.
  private static let doubt = 20

  /// When the lane sends again; nil while it sends.
  var pausedUntil: Date? {
    [pause?.until, breaker.openUntil].compactMap(\.self).max()
  }

  /// Removes the jobs whose settlements were committed.
  mutating func removeSettled() {
    for settlement in settlements {
      guard let job = jobs.removeValue(forKey: settlement.job),
        job.push.text.kind == .background
      else { continue }
      let left = silentPushes[job.push.target, default: 1] - 1
      silentPushes[job.push.target] = left > 0 ? left : nil
    }
    settlements = []
  }

  /// Silent pushes to the job's device, besides it, that the outbox does not count as sent yet.
  func silentPushesUnderWay(besides job: PushJob) -> Int {
    silentPushes[job.push.target, default: 1] - 1
  }
}

/// The state of a lane for metrics and the operator.
package struct LaneStatus: Sendable, Equatable {
  /// Pushes that the service has accepted since the start.
  package private(set) var delivered = 0
  /// Pushes that will not be tried again: dead tokens, rejections, expiries.
  package private(set) var failed = 0
  /// Failed attempts that will be repeated.
  package private(set) var retried = 0
  /// Pushes under way now.
  package private(set) var inFlight = 0
  /// When the lane tries again while the service is down, or the operator has to act; nil otherwise.
  package private(set) var pausedUntil: Date?
  /// What the operator has to do; nil unless the lane is paused for that.
  package private(set) var pauseReason: String?
  /// Registrations that the service has ended since the start.
  package private(set) var endedRegistrations = 0

  /// The status of a lane that has done nothing.
  package init() {}

  mutating func count(_ settlements: [Settlement]) {
    for settlement in settlements {
      switch settlement.outcome {
      case .delivered: delivered += 1
      case .retry: retried += 1
      case .released, .refused, .stopped: break
      case .deadToken, .rejected, .expired: failed += 1
      }
    }
  }

  /// Adds the counts of another lane, and why it is paused.
  mutating func add(_ other: LaneStatus) {
    delivered += other.delivered
    failed += other.failed
    retried += other.retried
    inFlight += other.inFlight
    endedRegistrations += other.endedRegistrations
    pauseReason = pauseReason ?? other.pauseReason
  }

  mutating func update(_ state: LaneLoopState) {
    inFlight = state.inFlight
    pausedUntil = state.pausedUntil
    pauseReason = state.pause?.reason
  }

  /// Counts registrations that have ended.
  mutating func countEnded(_ number: Int) { endedRegistrations += number }
}
