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
    case fallBack(to: PushPayload)
    /// Keep it until then; a newer push with its collapse id may replace it meanwhile.
    case hold(until: Date, reason: String)
  }

  /// Decides on a job while `underWay` silent pushes to its device are not settled yet.
  static func decide(on job: PushJob, underWay: Int, at now: Date) -> Decision {
    guard job.push.text.kind == .background else { return .send }
    let recent = job.recentSilentPushes.filter { $0 > now - window }.sorted()
    guard recent.count + underWay >= limit else { return .send }
    if let fallback = job.fallback { return .fallBack(to: fallback) }
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

  /// Merges the alerts of jobs beyond the budget: one push for each device.
  ///
  /// It is sent as the oldest job's push, so that its id is the same at every attempt, even when more
  /// jobs have been added. The jobs of a device that can't share an alert get one each.
  static func alerts(
    insteadOf silent: [(job: PushJob, alert: PushPayload)]
  ) -> [MergedPush] {
    let oldestFirst = silent.sorted { $0.job.id < $1.job.id }
    return Dictionary(grouping: oldestFirst, by: \.job.push.target).values.flatMap { jobs in
      stride(from: 0, to: jobs.count, by: PushPayload.mergeLimit).flatMap { start in
        let some = jobs[start...].prefix(PushPayload.mergeLimit)
        guard some.count > 1, let text = PushPayload.merged(some.reversed().map(\.alert)) else {
          return some.map { MergedPush([$0.job], alert: $0.alert) }
        }
        return [MergedPush(some.map(\.job), alert: text)]
      }
    }
  }

  private init(_ jobs: [PushJob], alert: PushPayload) {
    let oldest = jobs[0].push
    let expiries = jobs.compactMap(\.push.expires)
    push = OutgoingPush(
      id: oldest.id, target: oldest.target, user: oldest.user, text: alert,
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

extension PushPayload {
  /// The most notifications in one alert: their ids take about a third of ``limit``.
  static let mergeLimit = 50

  /// One alert in place of several, newest first: it shows as many of their messages as fit, has the
  /// newest's media, and lists every notification in `richIds`.
  ///
  /// Nil if one of them is not an alert that ``AnnouncementForm/alert`` made.
  static func merged(_ alerts: [PushPayload]) -> PushPayload? {
    let parsed = alerts.prefix(mergeLimit).compactMap(ParsedAlert.init)
    guard let newest = alerts.first, parsed.count == alerts.count, let first = parsed.first else {
      return nil
    }
    let head = #"{"aps":{"alert":{"body":"#
    let known = head + JSONText.quoted(first.aps.alert.body)
    let id = #""richId":\#(JSONText.quoted(first.richId))"#
    guard newest.json.hasPrefix(known) else { return nil }
    let rest = newest.json.dropFirst(known.count)
    guard let range = rest.firstRange(of: id) else { return nil }
    let ids = parsed.map { JSONText.quoted($0.richId) }.joined(separator: ",")
    let tail = "\(rest[..<range.upperBound]),\"richIds\":[\(ids)]\(rest[range.upperBound...])"
    return PushPayload(.alert, message: parsed.map(\.aps.alert.body).joined(separator: "\n")) {
      head + $0 + tail
    }
  }

  private struct ParsedAlert: Decodable {
    struct APS: Decodable {
      struct Alert: Decodable { let body: String }
      let alert: Alert
    }

    let aps: APS
    let richId: String

    init?(_ text: PushPayload) {
      guard text.kind == .alert,
        let parsed = try? JSONDecoder().decode(ParsedAlert.self, from: Data(text.json.utf8))
      else { return nil }
      self = parsed
    }
  }
}
