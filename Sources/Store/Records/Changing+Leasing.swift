import FoundationEssentials

/// A job that a service has accepted.
struct DeliveredJob {
  let id: Int
  let reference: String?
  let note: String?
}

extension Changing {
  /// Records outcomes of jobs leased to `owner`, in the order of the answers, and ends their leases.
  ///
  /// Ignores an outcome if the lease has passed to another process. If the job was cancelled meanwhile,
  /// only `delivered` counts.
  ///
  /// - Returns: the number of registrations that have ended.
  func settleEach(
    _ outcomes: ArraySlice<(job: Int, outcome: JobOutcome)>, by lane: SendingLane, owner: String,
    at now: Date
  ) throws -> Int {
    var ended = 0
    for case (let job, .deadToken(let since, _)) in outcomes {
      ended += try endRegistration(
        ofJob: job, by: lane, unlessUpdatedSince: since, owner: owner, at: now)
    }
    try lockJobs(outcomes.map(\.job))
    var delivered: [String: [DeliveredJob]] = [:]
    for (job, outcome) in outcomes {
      if case .delivered(let kind, let reference, let note) = outcome {
        delivered[kind, default: []].append(
          DeliveredJob(id: job, reference: reference, note: note))
      } else if try !settle(job, outcome, by: lane, owner: owner, at: now) {
        // The job was cancelled while it was sent; only its lease ends.
        try run("UPDATE job SET owner = NULL WHERE id = $1 AND owner = $2", job, owner)
      }
    }
    // Most outcomes: one statement for all of a kind.
    for (kind, jobs) in delivered { try settle(jobs, sentAs: kind, owner: owner, at: now) }
    return ended
  }

  /// The condition that a job is queued that is found by its ID.
  // No partial index has it in this form: PostgreSQL would go through one, once for each job, while it believes that
  // nothing is queued, as after an ANALYZE when all had been sent.
  static var isStillQueued: String { "job.state || '' = 'queued'" }

  /// Locks jobs that are changed next, always in the same order, so that two nodes do not wait for each other.
  func lockJobs(_ jobs: [Int]) throws {
    let clause = lock("FOR UPDATE")
    if jobs.isEmpty || clause.isEmpty { return }
    try send("SELECT 1 FROM job WHERE id \(isIn("$1")) ORDER BY id \(clause)", jobs)
  }

  /// Ends the registration that a push service no longer knows, and returns their number; 0 if it was renewed.
  private func endRegistration(
    ofJob job: Int, by lane: SendingLane, unlessUpdatedSince since: Date?, owner: String,
    at now: Date
  ) throws -> Int {
    // While the job is leased, `updated` is the time of the lease.
    try run(
      """
      UPDATE registration SET ended = $4, ended_by = $5
      WHERE id = (SELECT registration FROM job WHERE id = $1 AND owner = $2) AND ended IS NULL
        AND updated <= coalesce($3, (SELECT updated FROM job WHERE id = $1))
      """, job, owner, since, now, lane.name)
  }

  /// Records an outcome other than `delivered`; false if the job is no longer the owner's, or no longer queued.
  private func settle(
    _ job: Int, _ outcome: JobOutcome, by lane: SendingLane, owner: String, at now: Date
  ) throws -> Bool {
    if case .refused(let endsRegistration, let since, let reason) = outcome {
      return try refuse(
        job, by: lane, endsRegistration: endsRegistration, since: since, reason: reason,
        owner: owner, at: now)
    }
    if case .stopped(let reason) = outcome { try pause(lane, reason, isStopped: true, at: now) }
    let (state, due, attempts, reason): (JobState, Date?, Int, String?) =
      switch outcome {
      case .delivered: (.sent, nil, 1, nil)
      case .retry(let due, let reason): (.queued, due, 1, reason)
      case .released(let due, let reason): (.queued, due, 0, reason)
      case .stopped(let reason), .refused(_, _, let reason): (.queued, now, 0, reason)
      case .deadToken(_, let reason), .rejected(let reason): (.failed, nil, 1, reason)
      case .expired: (.expired, nil, 0, nil)
      }
    let sql = """
      UPDATE job SET state = $1, due = coalesce($2, due), attempts = attempts + $3,
        reason = coalesce($4, reason), updated = $5, owner = NULL
      WHERE job.id = $6 AND owner = $7 AND \(Self.isStillQueued)
      """
    guard state != .queued else {
      return try run(sql, state, due, attempts, reason, now, job, owner) == 1
    }
    return try updateJobs(
      from: .queued, to: state, sql, state, due, attempts, reason, now, job, owner
    ).count == 1
  }
}

// MARK: - Leasing

extension Changing {
  /// Leases due jobs that no earlier one blocks and that no other node is leasing now, or what the state of the lane
  /// permits; fails those whose device is gone.
  func lease(
    _ lane: SendingLane, limit: Int, owner: String, at now: Date, until: Date
  ) throws -> Lease {
    let condition = try condition(of: lane)
    if let pause = condition.pause {
      if !condition.isClosed {
        let jobs = try leaseDue(lane, limit: limit, owner: owner, at: now, until: until)
        if !jobs.isEmpty { return Lease(jobs: jobs, pause: pause) }
      }
      let (jobs, pause) = try probe(lane, condition, pause, limit: limit, at: now)
      return Lease(jobs: try lease(jobs, owner: owner, at: now, until: until), pause: pause)
    }
    guard limit > 0 else { return Lease() }
    if !condition.isDoubtful {
      if condition.trials > 0 { try endDoubt(about: lane) }
      let jobs = try leaseDue(lane, limit: limit, owner: owner, at: now, until: until)
      if !jobs.isEmpty || condition.refused < RefusalRule.doubt { return Lease(jobs: jobs) }
    }
    let (jobs, pause) = try trial(lane, condition, limit: limit, at: now, until: until)
    return Lease(jobs: try lease(jobs, owner: owner, at: now, until: until), pause: pause)
  }

  /// Leases due jobs by `lease`, which also returns how many it has looked at, until there are enough or no more: some
  /// have to wait, because their devices have a quiet period.
  func leaseAwake(
    _ lane: SendingLane, limit: Int, at now: Date,
    lease: (_ limit: Int) throws -> (jobs: [LeasedJob], found: Int)
  ) throws -> [LeasedJob] {
    var (jobs, found) = try lease(limit)
    // Of a hundred thousand that wait, the next exchange goes on, a moment later.
    for _ in 0..<4 where jobs.count < limit && found > jobs.count {
      _ = try holdQuiet(of: lane, limit: 1000, at: now)
      let next = try lease(limit - jobs.count)
      (jobs, found) = (jobs + next.jobs, jobs.count + next.found)
    }
    return jobs
  }
}
