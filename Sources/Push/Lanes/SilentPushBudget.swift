import FoundationEssentials
import Primitives

/// Keeps the pushes that wake an app without showing anything within what Apple delivers.
///
/// Apple: "Don't try to send more than two or three background notifications per hour"
/// (developer.apple.com, "Pushing background updates to your App").
struct SilentPushBudget: Sendable {
  /// The most silent pushes to one device within ``window``.
  static let limit = 3
  /// The time before now that counts, in seconds.
  static let window: TimeInterval = 3600
  /// Why a push was not sent silently, for its receipt.
  static let reason = "the device had \(limit) silent pushes within the hour."

  /// What to do with one push.
  enum Decision: Sendable, Equatable {
    /// Send it as it is.
    case send
    /// Send the alert instead, alone or merged with others for the device.
    case fallBack(to: PushMessage)
    /// Keep it until then; a newer push with its collapse id may replace it meanwhile.
    case hold(until: Date, reason: String)
  }

  /// Decides on a job while `underWay` silent pushes to its device are not settled yet; `fits` tells whether the service
  /// takes a message: an alert has a link to the media, which a silent push has not.
  static func decide(
    on job: PushJob, underWay: Int, at now: Date, fits: (PushMessage) -> Bool
  ) -> Decision {
    guard job.push.text.kind == .background else { return .send }
    let recent = job.recentSilentPushes.filter { $0 > now - window }.sorted()
    guard recent.count + underWay >= limit else { return .send }
    if let alert = job.push.message?.asAlert, alert.id != nil, fits(alert) {
      return .fallBack(to: alert)
    }
    return .hold(until: (recent.first ?? now) + window, reason: "Held back: " + reason)
  }
}

/// A push in flight, and the jobs that its outcome settles.
struct MergedPush: Sendable {
  let push: OutgoingPush
  /// The jobs, and the notes for their receipts.
  let items: [(job: PushJob, note: String?)]

  /// The push of one job.
  init(_ job: PushJob) {
    push = job.push
    items = [(job, nil)]
  }

  /// The most notifications in one alert: their IDs take about a third of ``PushPayload/limit``.
  private static let mostNotifications = 50

  /// Merges the alerts of jobs beyond the budget: one push for each device.
  ///
  /// It is sent as the oldest job's push, so that its id is the same at every attempt, even when more
  /// jobs have been added. What would have more than `limit` bytes is not merged.
  static func alerts(
    insteadOf silent: [(job: PushJob, alert: PushMessage)],
    payload: (PushMessage) -> PayloadTemplate, limit: Int
  ) -> [MergedPush] {
    let oldestFirst = silent.sorted { $0.job.id < $1.job.id }
    return Dictionary(grouping: oldestFirst, by: \.job.push.target).values.flatMap { jobs in
      stride(from: 0, to: jobs.count, by: mostNotifications).flatMap { start in
        let some = Array(jobs[start...].prefix(mostNotifications))
        guard let merged = alert(insteadOf: some, payload, limit: some.count > 1 ? limit : .max)
        else { return some.compactMap { alert(insteadOf: [$0], payload, limit: .max) } }
        return [merged]
      }
    }
  }

  /// One alert for jobs of a device, oldest first; nil if it would have more than `limit` bytes.
  private static func alert(
    insteadOf jobs: [(job: PushJob, alert: PushMessage)],
    _ payload: (PushMessage) -> PayloadTemplate, limit: Int
  ) -> MergedPush? {
    guard let newest = jobs.last?.job,
      let message = PushMessage.merging(jobs.reversed().map(\.alert))
    else { return nil }
    let template = payload(message)
    if template.largestSize > limit { return nil }
    return MergedPush(
      jobs.map(\.job), message: message,
      text: template.payload(badge: newest.unread, job: newest.suffix))
  }

  private init(_ jobs: [PushJob], message: PushMessage, text: PushPayload) {
    let oldest = jobs[0].push
    let expiries = jobs.compactMap(\.push.expires)
    push = OutgoingPush(
      id: oldest.id, target: oldest.target, user: oldest.user, message: message, text: text,
      collapseID: oldest.collapseID,
      expires: expiries.count == jobs.count ? expiries.max() : nil)
    items = jobs.enumerated().map { index, job in
      let what =
        index > 0
        ? "Merged into the alert \(oldest.id)"
        : "Sent as an alert" + (jobs.count > 1 ? " for \(jobs.count) notifications" : "")
      return (job, "\(what): \(SilentPushBudget.reason)")
    }
  }
}

extension PushJob {
  /// The end of its link to media.
  package var suffix: JobSuffix { JobSuffix(job: id, token: push.id, secret: secret) }
}
