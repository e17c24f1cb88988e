import FoundationEssentials

/// One push on its way, and every job that its answer settles.
struct Parcel: Sendable {
  /// A job, and what its receipt says beside the outcome.
  struct Item: Sendable {
    let job: PushJob
    let note: String?
  }

  let push: OutgoingPush
  let items: [Item]

  /// The push that a job asks for.
  init(_ job: PushJob) {
    push = job.push
    items = [Item(job: job, note: nil)]
  }

  /// What the governor makes of jobs whose device may not be woken again: one alert for each device.
  ///
  /// It goes out as the oldest job's push, so that its id is the same at every attempt, even when more
  /// jobs have come; the jobs of a device that can't share one alert get one each.
  static func alerts(insteadOf wakes: [(job: PushJob, alert: PushText)]) -> [Parcel] {
    var oldestFirst: [OutgoingPush.Target: [(job: PushJob, alert: PushText)]] = [:]
    for wake in wakes.sorted(by: { $0.job.id < $1.job.id }) {
      oldestFirst[wake.job.push.target, default: []].append(wake)
    }
    return oldestFirst.values.flatMap { wakes in
      stride(from: 0, to: wakes.count, by: PushText.mergeLimit).flatMap { start in
        let some = wakes[start...].prefix(PushText.mergeLimit)
        guard some.count > 1, let text = PushText.merged(some.reversed().map(\.alert)) else {
          return some.map { Parcel([$0.job], saying: $0.alert) }
        }
        return [Parcel(some.map(\.job), saying: text)]
      }
    }
  }

  private init(_ jobs: [PushJob], saying text: PushText) {
    let carrier = jobs[0].push
    let ends = jobs.compactMap(\.push.expires)
    push = OutgoingPush(
      id: carrier.id, target: carrier.target, text: text, collapseID: carrier.collapseID,
      expires: ends.count == jobs.count ? ends.max() : nil)
    items = jobs.enumerated().map { index, job in
      let what =
        index > 0
        ? "Merged into the alert \(carrier.id)"
        : "Sent as an alert" + (jobs.count > 1 ? " for \(jobs.count) notifications" : "")
      return Item(job: job, note: "\(what): \(SilentGovernor.reason)")
    }
  }
}
