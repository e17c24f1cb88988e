import Foundation
import RichPushClient

/// What was promised about notifications, to be compared with what a push service took.
struct ChaosPromises: Sendable {
  /// All that were acknowledged, by their numbers.
  var sent: [Int: ChaosNotification] = [:]
  /// The numbers of those that had expired before they were acknowledged.
  var unacknowledged: Set<Int> = []

  /// A lease may hold what has expired or was withdrawn meanwhile.
  fileprivate static let lease = 120.0

  mutating func add(_ notification: ChaosNotification, isAcknowledged: Bool) {
    if isAcknowledged {
      sent[notification.number] = notification
    } else {
      unacknowledged.insert(notification.number)
    }
  }

  mutating func merge(_ others: ChaosPromises) {
    sent.merge(others.sent) { $1 }
    unacknowledged.formUnion(others.unacknowledged)
  }

  /// Which promises were broken to some devices of a lane; empty if none.
  func faults(in pushes: [TakenPush], of lane: String, to devices: [String]) -> [String] {
    var check = LaneCheck(lane: lane, promises: self)
    for push in pushes { check.take(push) }
    for notification in sent.values {
      for device in devices { check.judge(notification, on: device) }
    }
    let merged = pushes.count { $0.notifications.count > 1 }
    print(
      "chaos: \(lane) took \(pushes.count) pushes, \(check.repeated) of them again, \(merged) merged"
    )
    return check.faults
  }
}

/// Compares the pushes of a lane with the promises.
private struct LaneCheck {
  private struct Arrival {
    let version: Int
    let time: Date
  }

  let lane: String
  let promises: ChaosPromises
  private let numbers: [Int: Int]
  private var arrivals: [String: [Arrival]] = [:]
  /// The IDs of the pushes of a version to a device.
  private var ids: [String: Set<String>] = [:]
  private var taken = 0
  private(set) var faults: [String] = []

  init(lane: String, promises: ChaosPromises) {
    (self.lane, self.promises) = (lane, promises)
    let pairs = promises.sent.values.flatMap { sent in sent.ids.map { ($0, sent.number) } }
    numbers = Dictionary(pairs) { first, _ in first }
  }

  private var distinct = 0
  var repeated: Int { taken - distinct }

  private mutating func fault(_ what: String) { faults.append("\(lane): \(what)") }

  mutating func take(_ push: TakenPush) {
    taken += 1
    let stamps = push.stamps
    guard push.notifications.count == 1 else { return takeMerged(push, stamps) }
    guard let stamp = stamps.first, stamps.count == 1 else {
      return fault("\(push.device) was told \(stamps) in one push")
    }
    guard let sent = promises.sent[stamp.number] else {
      if !promises.unacknowledged.contains(stamp.number) { fault("\(stamp) was never sent") }
      return
    }
    if numbers[push.notifications[0]] != stamp.number {
      fault("\(stamp) has the ID \(push.notifications[0])")
    }
    let key = "\(push.device) \(stamp)"
    if ids[key] == nil { distinct += 1 }
    ids[key, default: []].insert(push.id)
    if ids[key]?.count == 2 { fault("\(push.device) got \(stamp) under two IDs") }
    arrive(push, stamp.number, stamp.version)
    if let expected = Self.members(lane, sent), push.stampedMembers != expected {
      fault("\(sent.kind) has \(push.stampedMembers.symmetricDifference(expected)) or not")
    }
  }

  /// One alert in place of several silent pushes.
  private mutating func takeMerged(_ push: TakenPush, _ stamps: Set<Stamp>) {
    distinct += 1
    let announced = push.notifications.compactMap { numbers[$0] }
    if announced.count != push.notifications.count { fault("a merged push names others") }
    if !Set(announced).isSuperset(of: stamps.map(\.number)) {
      fault("a merged push says \(stamps), and names \(announced)")
    }
    for number in announced {
      if promises.sent[number]?.kind.isBackground == false { fault("\(number) was merged") }
      arrive(push, number, 1)
    }
  }

  private mutating func arrive(_ push: TakenPush, _ number: Int, _ version: Int) {
    arrivals["\(push.device) \(number)", default: []].append(
      Arrival(version: version, time: push.time))
  }

  mutating func judge(_ sent: ChaosNotification, on device: String) {
    let arrivals = arrivals["\(device) \(sent.number)"] ?? []
    let versions = arrivals.map(\.version)
    let name = "\(sent.kind) \(sent.number) on \(device)"
    if sent.kind.arrives, versions.last != sent.version {
      fault("\(name): \(versions) for \(sent.version)")
    }
    if zip(versions, versions.dropFirst()).contains(where: >) {
      fault("\(name): an older version came later, \(versions)")
    }
    switch sent.kind {
    case .calledOff where !versions.isEmpty: fault("\(name): it was called off")
    case .released where versions.contains(1): fault("\(name): that was never sent")
    default: break
    }
    for arrival in arrivals {
      // The services' clock is this one; the database has milliseconds.
      if let due = sent.due, arrival.time < due - 0.01 { fault("\(name): too early") }
      if let end = sent.end, arrival.time > end + ChaosPromises.lease {
        fault("\(name): too late")
      }
    }
  }
}

// MARK: - Members

/// The number and version that all texts of a push have.
struct Stamp: Hashable, CustomStringConvertible {
  let number: Int
  let version: Int

  var description: String { ChaosNotification.stamp(number, version) }
}

extension TakenPush {
  /// The versions that it says.
  fileprivate var stamps: Set<Stamp> {
    Set(
      text.matches(of: /n(\d+)\.v(\d+)/).compactMap { match in
        guard let number = Int(match.1), let version = Int(match.2) else { return nil }
        return Stamp(number: number, version: version)
      })
  }

  /// The members whose texts are the notification's, by their paths.
  fileprivate var stampedMembers: Set<String> {
    var found: Set<String> = []
    func look(_ value: JSONValue, _ path: String) {
      switch value {
      case .string(let text): if text.contains(/n\d+\.v\d/) { found.insert(path) }
      case .array(let items): for item in items { look(item, path) }
      case .object(let members):
        for (name, value) in members { look(value, path.isEmpty ? name : "\(path).\(name)") }
      default: break
      }
    }
    look(json, "")
    return found
  }
}

extension LaneCheck {
  /// The paths of the members that say the notification's texts; nil for what is not compared, such as silent pushes,
  /// which may have become alerts.
  fileprivate static func members(_ lane: String, _ sent: ChaosNotification) -> Set<String>? {
    guard !sent.isEarlier, sent.kind.hasMembers, sent.kind != .silent else { return nil }
    return switch lane {
    case "webhook": neutral(sent).union(apple(sent).map { "push." + $0 })
    case "webpush": browser(sent)
    case "fcm": firebase(sent)
    default: apple(sent)
    }
  }

  private static let actions = ["actions.label", "actions.link", "actions.input"]

  private static func apple(_ sent: ChaosNotification) -> Set<String> {
    let carried = Set(
      actions + ["link", "data.version", "aps.category", "aps.sound", "aps.thread-id"])
    guard sent.kind != .confidential else { return carried }
    let shown = carried.union([
      "aps.alert.title", "aps.alert.subtitle", "aps.alert.body", "att.alt",
    ])
    return sent.kind == .hybrid
      ? shown.union(["richTitle", "richSubtitle", "richMessage"]) : shown
  }

  private static func browser(_ sent: ChaosNotification) -> Set<String> {
    let members = Set(
      actions + ["richTitle", "richSubtitle", "richMessage", "link", "data.version", "icon"]
        + ["sound", "thread"])
    return sent.kind == .confidential ? members : members.union(["att.alt"])
  }

  private static func firebase(_ sent: ChaosNotification) -> Set<String> {
    let names =
      ["richTitle", "richSubtitle", "richMessage", "link", "actions", "category", "channel"]
      + ["data", "icon", "sound", "thread"] + (sent.kind == .confidential ? [] : ["attAlt"])
    return Set(names.map { "data." + $0 } + ["fcmOptions.analyticsLabel"])
  }

  /// What a webhook is told beside the payload.
  private static func neutral(_ sent: ChaosNotification) -> Set<String> {
    let names =
      actions + ["message", "title", "subtitle", "link", "category", "thread", "channel"]
      + ["sound", "icon", "label", "data.version"] + (sent.kind == .confidential ? [] : ["alt"])
    return Set(names.map { "message." + $0 })
  }
}
