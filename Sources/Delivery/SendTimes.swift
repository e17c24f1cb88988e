import FoundationEssentials
import Push
import RichPushAPI
import Store

/// When those whom a notification is for get it, if not all at once: by their own clocks, at most so many devices a
/// minute, or both.
struct SendTimes: Sendable {
  /// By their own clocks; nil if only so many get it in a minute.
  private let zones: LocalTimes?
  /// For each device, in the order of the addressees' devices; nil if it depends on the device's zone alone.
  private let devices: [Date]?
  /// The users by the time at which they learn of it, in ascending order.
  let users: [Date: [UserID]]
  /// When the last push goes.
  let last: Date
  private let others: [UserID: Date]

  /// The longest time that a notification may take, in minutes: each of them is stored.
  static let mostMinutes = 1440

  /// Nil if all get it at once.
  ///
  /// `recipients` are in ascending order. A user without a device counts as one if the user's app may be connected, or
  /// if a push service may know a device.
  ///
  /// - Throws: `rejected` if it would take too long.
  init?(
    of draft: Draft, for addressees: Announcement.Addressees, _ recipients: [UserID],
    by lanes: PlatformLanes, now: Date
  ) throws(ServiceError) {
    let found = addressees.devices
    let zones = draft.localTime.flatMap { LocalTimes($0, for: found) }
    self.zones = zones
    guard let perMinute = draft.perMinute else {
      guard let zones else { return nil }
      (devices, others) = (nil, [:])
      users = zones.groups(of: recipients, with: found)
      last = users.keys.max() ?? now
      return
    }
    let standard = Swift.max(zones?.standard ?? draft.notBefore ?? now, now)
    let countsAll = lanes.isEmbedded || !lanes.resolvingTags.isEmpty
    let starts: [Date?] = found.values { platform, zone in
      guard countsAll || platform.flatMap(lanes.lane) != nil else { return nil }
      return zones.map { Swift.max($0.date(in: zone), now) } ?? standard
    }
    // A user's devices get it one after the other.
    var turns = found.indices.compactMap { index in
      starts[index].map { Turn(start: $0, user: found.users[index], device: index) }
    }
    if countsAll {
      let known = Set(found.users)
      turns += recipients.lazy.filter { !known.contains($0) }.map {
        Turn(start: standard, user: $0, device: nil)
      }
    }
    guard turns.count <= perMinute * Self.mostMinutes else {
      throw Self.tooSlow(turns.count, perMinute)
    }
    turns.sort()
    var times = starts.map { $0 ?? standard }
    var first: [UserID: Date] = [:]
    var rest: [UserID: Date] = [:]
    var (minute, count) = (Date.distantPast, 0)
    for turn in turns {
      if turn.start >= minute + 60 {
        (minute, count) = (turn.start, 0)
      } else if count == perMinute || turn.start > minute {
        (minute, count) = (minute + 60, 0)
      }
      count += 1
      if let device = turn.device { times[device] = minute } else { rest[turn.user] = minute }
      if first[turn.user] == nil { first[turn.user] = minute }
    }
    (devices, others) = (times, rest)
    last = turns.isEmpty ? standard : minute
    let unreached = zones.map { found.least($0.date) } ?? [:]
    users = Dictionary(grouping: recipients) { first[$0] ?? unreached[$0] ?? standard }
  }

  /// A device, or a user without one, and from when it may get the notification.
  private struct Turn: Comparable {
    let start: Date
    let user: UserID
    let device: Int?

    static func < (one: Turn, other: Turn) -> Bool {
      (one.start, one.user.rawValue, one.device ?? 0)
        < (other.start, other.user.rawValue, other.device ?? 0)
    }
  }

  /// The registrations of devices by lane and time; without devices that no lane reaches.
  func registrations<Key: Hashable>(
    _ all: AudienceDevices, by key: (_ platform: String?, _ lane: String?, _ time: Date) -> Key?
  ) -> [Key: RegistrationIDs] {
    guard let devices else {
      return all.registrations { platform, lane, zone in
        zones.flatMap { key(platform, lane, $0.date(in: zone)) }
      }
    }
    return all.registrations(with: devices, by: key)
  }

  /// When a user without a device gets it.
  func time(of user: UserID) -> Date? { others[user] ?? zones?.standard }

  private static func tooSlow(_ count: Int, _ perMinute: Int) -> ServiceError {
    let least = (count + mostMinutes - 1) / mostMinutes
    return ServiceError(
      .init(
        "perMinute", .rejected,
        """
        At \(perMinute) a minute, \(count) devices would take \(duration(count, perMinute)), of which a day is possible: \
        perMinute must be at least \(least).
        """))
  }

  /// How long so many take, in words.
  private static func duration(_ count: Int, _ perMinute: Int) -> String {
    let minutes = (count + perMinute - 1) / perMinute
    let parts = [(minutes / 1440, "d"), (minutes / 60 % 24, "h"), (minutes % 60, "min")]
    return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }
}

extension Draft {
  /// - Throws: `rejected` if it expires before all have got it.
  func requireEnd(of times: SendTimes?) throws(ServiceError) {
    guard self.perMinute != nil, let times, let expires = self.expires, expires <= times.last else {
      return
    }
    throw ServiceError(
      .init(
        "expires", .rejected,
        "The last devices get it at \(times.last.formatted(.iso8601)); expires must be later, or perMinute larger."
      ))
  }
}
