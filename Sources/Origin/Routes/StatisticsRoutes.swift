import Delivery
import FoundationEssentials
import HTTP
import Primitives
import RichPushAPI
import Store

/// What became of what was sent: of one notification over time, and of all by week.
struct StatisticsRoutes: Sendable {
  let store: Store
  let announcement: Announcement
  let exports: Exports
  let cache: StatisticsCache
  /// What a user asks for is counted one after another.
  private let turns = KeyedSemaphore<UserID>()
  /// The most weeks.
  private static let weeks = 104

  init(store: Store, announcement: Announcement, exports: Exports, cache: StatisticsCache) {
    (self.store, self.announcement) = (store, announcement)
    (self.exports, self.cache) = (exports, cache)
  }

  /// `GET /api/notifications/<id>/statistics`: for its sender and admins; with `segment`, which is for publishers, among
  /// the recipients who belong to it now.
  func get(_ context: RequestContext) async throws -> Response {
    let query = try context.query("segment")
    let sent = try await store.controlledNotification(context)
    let segment = query["segment"]
    if segment != nil { try Access.publisher.check(context.caller) }
    let counted =
      if let known = cache.known(sent, segment: segment) {
        known
      } else {
        try await inTurn(context.caller) {
          try await cache.statistics(
            of: sent, segment: segment.map { name in (name, { try await users(of: name) }) })
        }
      }
    return .json(
      200,
      NotificationStatistics(
        counted.statistics, of: sent, isWhole: segment == nil, at: counted.time))
  }

  /// - Throws: `notFound` if there is no such segment.
  private func users(of segment: String) async throws -> Set<UserID> {
    guard Segment.isValid(name: segment), try await store.segments.segment(segment) != nil else {
      throw ServiceError(.notFound, "There is no segment \(segment.quoted).")
    }
    return try await announcement.size(of: Draft.audience(["segment:" + segment])).users
  }

  /// `GET /api/statistics`: what the caller or, for an admin with `sender=*`, everybody has sent by week.
  func weeks(_ context: RequestContext) async throws -> Response {
    let query = try context.query("weeks", "from", "zone", "sender")
    let caller = context.caller
    let isOfAll = try query.isOfAll(for: caller)
    let count = try query.number("weeks", 1...Self.weeks) ?? 12
    let zone = try query.zone("zone")
    let last = Week(of: store.now(), in: zone)
    let first = try query.week("from", in: zone) ?? last.later(by: 1 - count)
    let starts = (0...count).map { first.later(by: $0).start }
    return try await exports.response(context, named: "weeks") { _, _ in
      let counts = try await inTurn(caller) {
        try await store.statistics.counts(
          by: isOfAll ? nil : caller.id, in: Array(starts.dropLast()), until: starts[count])
      }
      return WeekStatistics(weeks: zip(starts, counts).map(WeekStatistics.Week.init))
    }
  }

  private func inTurn<R>(_ caller: Caller, _ body: () async throws -> R) async throws -> R {
    guard let permit = await turns.permit(caller.id) else { throw CancellationError() }
    defer { permit.end() }
    return try await body()
  }
}

extension [String: String] {
  /// The time zone that a parameter names; UTC without it.
  fileprivate func zone(_ name: String) throws(ServiceError) -> TimeZone {
    guard let text = self[name] else { return .gmt }
    guard (1...64).contains(text.utf8.count), let zone = TimeZone(identifier: text) else {
      throw ServiceError(
        .rejected, "\(name) must be a name of the IANA's database, such as Europe/Zurich.")
    }
    return zone
  }

  /// The week of a date such as 2026-11-30; nil without the parameter.
  fileprivate func week(_ name: String, in zone: TimeZone) throws(ServiceError) -> Week? {
    guard let text = self[name] else { return nil }
    let format = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
    guard let day = try? format.parse(text), format.format(day) == text else {
      throw ServiceError(.invalidRequest, "\(name) must be a date, such as 2026-11-30.")
    }
    let number = Int((day.timeIntervalSince1970 / 86_400).rounded(.down))
    // Nothing was sent before 1970, and all weeks have years of four digits.
    return Week(day: Swift.min(Swift.max(0, number), 2_900_000), in: zone)
  }
}

/// A week from Monday to Sunday in a time zone.
struct Week: Sendable {
  /// The Monday, in days since 1970-01-01.
  private let monday: Int
  private let zone: TimeZone

  /// The week with a day, in days since 1970-01-01, which was a Thursday.
  init(day: Int, in zone: TimeZone) {
    let sinceMonday = (day + 3) % 7
    monday = day - (sinceMonday < 0 ? sinceMonday + 7 : sinceMonday)
    self.zone = zone
  }

  /// The week with a time.
  init(of time: Date, in zone: TimeZone) {
    let clock = time.timeIntervalSince1970 + Double(zone.secondsFromGMT(for: time))
    self.init(day: Int((clock / 86_400).rounded(.down)), in: zone)
  }

  func later(by weeks: Int) -> Week { Week(day: monday + 7 * weeks, in: zone) }

  /// When Monday begins.
  var start: Date {
    let clock = Date(timeIntervalSince1970: Double(monday) * 86_400)
    // The clock may be changed between midnight there and midnight here.
    let guess = clock - Double(zone.secondsFromGMT(for: clock))
    return clock - Double(zone.secondsFromGMT(for: guess))
  }
}

// MARK: - Messages

extension NotificationStatistics {
  /// `isWhole` tells whether all recipients were counted.
  init(
    _ counted: CountedNotification, of sent: SentNotification, isWhole: Bool = true, at time: Date
  ) {
    let state = sent.state(at: time)
    let course = counted.course
    let counts = sent.counts
    let hasEnded = [.withdrawn, .expired].contains(state)
    let isKept = counted.funnel.recipients > 0 || counts.recipients == 0 || !hasEnded
    var funnel = counted.funnel
    let missing = isWhole ? max(0, counts.recipients - funnel.recipients) : 0
    if isKept {
      // A large audience follows in parts.
      funnel.waiting += hasEnded ? 0 : missing
      funnel.unreachable += hasEnded ? missing : 0
      funnel.recipients += missing
    } else if isWhole {
      funnel = RecipientFunnel(of: counts)
    }
    var unreachable = counted.unreachable.map {
      Unreachable(cause: $0.why.cause.rawValue, reason: $0.why.reason, users: $0.users)
    }
    let unexplained = funnel.unreachable - unreachable.reduce(0) { $0 + $1.users }
    if unexplained > 0 {
      unreachable.append(
        Unreachable(
          cause: UnreachedRecipients.Cause.ended.rawValue, reason: nil, users: unexplained))
    }
    self.init(
      id: sent.notification.id, state: state, counted: time, users: Funnel(funnel),
      interactions: isWhole
        ? (counts.actions, counts.replies) : (course.sum(.actions), course.sum(.replies)),
      unreachable: unreachable,
      groups: (counted.platforms.map(Group.init), counted.languages.map(Group.init)),
      course: Course(start: course.start, length: course.length) { name in
        CourseStep(rawValue: name).map { course[$0] } ?? []
      }, hasReceipts: isKept)
  }
}

extension Course {
  fileprivate func sum(_ step: CourseStep) -> Int { self[step].reduce(0, +) }
}

extension RecipientFunnel {
  /// What is left of a notification that has ended: its numbers.
  fileprivate init(of counts: NotificationCounts) {
    self.init()
    recipients = counts.recipients
    steps = [
      .displayed: counts.displayed, .fetched: counts.fetched, .opened: counts.opened,
      .read: counts.read, .dismissed: counts.dismissed,
    ]
    steps[.sent] = min(recipients, max(counts.sent, steps.values.max() ?? 0))
    unreachable = recipients - self[.sent]
  }
}

extension Funnel {
  fileprivate init(_ funnel: RecipientFunnel) {
    self.init(
      recipients: funnel.recipients, waiting: funnel.waiting, unreachable: funnel.unreachable,
      sent: funnel[.sent])
    (displayed, fetched, opened) = (funnel[.displayed], funnel[.fetched], funnel[.opened])
    (read, dismissed) = (funnel[.read], funnel[.dismissed])
  }
}

extension NotificationStatistics.Group {
  fileprivate init(_ group: RecipientGroup) {
    self.init(names: group.names, users: Funnel(group.funnel))
  }
}

extension WeekStatistics.Week {
  fileprivate init(_ start: Date, _ counts: PeriodCounts) {
    self.init(start: start)
    (notifications, withdrawn) = (counts.notifications, counts.withdrawn)
    (recipients, sent, failed) = (counts.recipients, counts.sent, counts.failed)
    func number(_ step: CourseStep) -> Int { counts.steps[step] ?? 0 }
    (displayed, fetched, opened) = (number(.displayed), number(.fetched), number(.opened))
    (read, dismissed) = (number(.read), number(.dismissed))
    (actions, replies) = (number(.actions), number(.replies))
  }
}
