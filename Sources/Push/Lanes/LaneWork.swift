import FoundationEssentials

/// What one running lane has in hand; only its loop touches it.
struct LaneWork {
  /// The time between two commits, in seconds, unless enough has finished or nothing is under way.
  static let pace: TimeInterval = 0.05

  var breaker = CircuitBreaker()
  /// Whether the outbox did not answer the last time, which is said once.
  var isRefused = false
  private(set) var settlements: [Settlement] = []
  private var jobs: [Int: PushJob] = [:]
  private var wakes: [OutgoingPush.Target: Int] = [:]

  /// Leased jobs that are not settled yet.
  var inFlight: Int { jobs.count }

  /// Leased jobs whose outcome is not known yet.
  var underWay: Int { jobs.count - settlements.count }

  /// Takes a job in hand; false when it is, because its lease ended while it was being sent.
  mutating func begin(_ job: PushJob) -> Bool {
    guard jobs.updateValue(job, forKey: job.id) == nil else { return false }
    if job.push.text.kind == .background { wakes[job.push.target, default: 0] += 1 }
    return true
  }

  /// Whether to wait with the next commit until a little after the last, so that it holds more.
  func isWorthWaiting(since last: Date, at now: Date, batch: Int) -> Bool {
    last <= now && now < last + Self.pace && underWay > 0 && settlements.count < batch
  }

  mutating func settle(_ job: PushJob, _ outcome: Settlement.Outcome) {
    settlements.append(Settlement(job: job.id, outcome: outcome))
  }

  /// Forgets the jobs whose settlements were committed.
  mutating func endSettled() {
    for settlement in settlements {
      guard let job = jobs.removeValue(forKey: settlement.job) else { continue }
      guard job.push.text.kind == .background else { continue }
      let left = wakes[job.push.target, default: 1] - 1
      wakes[job.push.target] = left > 0 ? left : nil
    }
    settlements = []
  }

  /// Silent pushes to the job's device that the outbox does not count as sent yet.
  func wakesUnderWay(besides job: PushJob) -> Int {
    wakes[job.push.target, default: 1] - 1
  }
}
