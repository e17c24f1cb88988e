import FoundationEssentials

/// A recipient with the time at which each step was first reached.
struct CountedRecipient: Sendable {
  let user: Int
  let times: [(step: CourseStep, time: Date?)]
}

/// A registered device of a recipient.
struct CountedDevice: Sendable {
  let platform: String?
  let language: String?
  let updated: Date
}

/// What became of the pushes to each user.
struct UserPushes: Sendable {
  struct Job: Sendable {
    let id: Int
    /// Nil for a push to all whom a push service finds.
    let user: Int?
    let reason: String?
    let updated: Date
  }

  /// What is known of the pushes to one user: the best of them counts.
  enum Outcome: Sendable {
    case unsent(reason: Int)
    case waiting
    case sent(Date)
  }

  private var outcomes: [Int: Outcome] = [:]
  /// What became of a push that was not to single devices.
  private var shared: Outcome?
  /// Each reason once, however many have it.
  private var reasons: [UnreachedRecipients] = []
  private var numbers: [UnreachedRecipients: Int] = [:]
  /// The most different reasons; of more only the causes are kept.
  private static let limit = 1000

  subscript(user: Int) -> Outcome? { outcomes[user] ?? shared }

  func reason(_ number: Int) -> UnreachedRecipients { reasons[number] }

  mutating func include(_ job: Job, _ state: JobState) {
    let outcome: Outcome =
      switch state {
      case .sent: .sent(job.updated)
      case .queued: .waiting
      case .failed: .unsent(reason: number(.failed, job.reason))
      case .expired: .unsent(reason: number(.expired, nil))
      case .cancelled: .unsent(reason: number(.cancelled, job.reason))
      }
    if let user = job.user {
      outcomes[user] = Self.better(outcomes[user], outcome)
    } else {
      shared = Self.better(shared, outcome)
    }
  }

  private mutating func number(_ cause: UnreachedRecipients.Cause, _ reason: String?) -> Int {
    let why = UnreachedRecipients(
      cause: cause, reason: numbers.count < Self.limit ? reason : nil)
    if let known = numbers[why] { return known }
    reasons.append(why)
    numbers[why] = reasons.count - 1
    return reasons.count - 1
  }

  private static func better(_ one: Outcome?, _ other: Outcome) -> Outcome {
    switch (one, other) {
    case (.sent(let first), .sent(let second)): .sent(min(first, second))
    case (.sent, _), (.waiting, .unsent): one ?? other
    case (nil, _), (.waiting, _), (.unsent, _): other
    }
  }
}

/// Counts recipients of a notification one after another.
struct StatisticsCount {
  private let hasEnded: Bool
  private let unserved: Set<String>
  private let pushes: UserPushes
  private var funnel = RecipientFunnel()
  private var course: Course
  private var reasons: [UnreachedRecipients: Int] = [:]
  private var platforms: [[String]: RecipientFunnel] = [:]
  private var languages: [[String]: RecipientFunnel] = [:]
  /// The most groups and reasons that are told apart; the rest is one.
  private static let limit = 20
  /// The most that are counted apart, from which the largest are chosen.
  private static let counted = 1000

  init(since start: Date, hasEnded: Bool, unserved: Set<String>, pushes: UserPushes) {
    (self.hasEnded, self.unserved, self.pushes) = (hasEnded, unserved, pushes)
    course = Course(since: start)
  }

  mutating func include(_ step: CourseStep, at time: Date) { course.add(step, at: time) }

  mutating func include(_ recipient: CountedRecipient, with devices: [CountedDevice]) {
    var (reached, waits): ([(step: CourseStep, time: Date)], Bool) = ([], false)
    for (step, time) in recipient.times {
      if let time { reached.append((step, time)) }
    }
    var sent = reached.map(\.time).min()
    switch pushes[recipient.user] {
    case .sent(let time): sent = min(sent ?? time, time)
    case .waiting: waits = !hasEnded
    case .unsent, nil: break
    }
    if let sent {
      reached = [(.sent, sent)] + reached.filter { $0.step != .sent }
    }
    for (step, time) in reached { course.add(step, at: time) }
    var why: UnreachedRecipients?
    if sent == nil, !waits { why = reason(of: recipient.user, devices) }
    if let why {
      let known = reasons[why] != nil || reasons.count < Self.counted
      reasons[known ? why : UnreachedRecipients(cause: why.cause, reason: nil), default: 0] += 1
    }
    let steps = reached.map(\.step)
    let isUnreached = why != nil
    funnel.add(steps, isUnreached: isUnreached)
    Self.count(Self.platforms(of: devices), in: &platforms) {
      $0.add(steps, isUnreached: isUnreached)
    }
    Self.count(Self.languages(of: devices), in: &languages) {
      $0.add(steps, isUnreached: isUnreached)
    }
  }

  /// Why nothing was sent to somebody, and nothing will be; nil if it is still to come.
  private func reason(of user: Int, _ devices: [CountedDevice]) -> UnreachedRecipients? {
    if case .unsent(let number) = pushes[user] { return pushes.reason(number) }
    let names = Self.platforms(of: devices)
    if names.isEmpty { return UnreachedRecipients(cause: .noDevice, reason: nil) }
    if names.allSatisfy(unserved.contains) {
      return UnreachedRecipients(cause: .noService, reason: names.joined(separator: ", "))
    }
    return hasEnded ? UnreachedRecipients(cause: .ended, reason: nil) : nil
  }

  private static func platforms(of devices: [CountedDevice]) -> [String] {
    Set(devices.compactMap(\.platform)).sorted()
  }

  /// The language of the device that was registered last, without its region.
  private static func languages(of devices: [CountedDevice]) -> [String] {
    let latest = devices.filter { $0.language != nil }.max { $0.updated < $1.updated }
    return [latest?.language?.prefix { $0 != "-" }.lowercased()].compactMap(\.self)
  }

  private static func count(
    _ names: [String], in groups: inout [[String]: RecipientFunnel],
    _ add: (inout RecipientFunnel) -> Void
  ) {
    let isKnown = groups[names] != nil || groups.count < counted
    add(&groups[isKnown ? names : other, default: RecipientFunnel()])
  }

  /// What groups beyond the limit are called.
  private static let other = ["*"]

  // MARK: - The result

  var result: CountedNotification {
    CountedNotification(
      funnel: funnel, unreachable: largestReasons, platforms: Self.largest(platforms),
      languages: Self.largest(languages), course: course)
  }

  private var largestReasons: [(why: UnreachedRecipients, users: Int)] {
    let sorted = reasons.sorted {
      ($1.value, $0.key.cause.rawValue, $0.key.reason ?? "")
        < ($0.value, $1.key.cause.rawValue, $1.key.reason ?? "")
    }
    var merged: [UnreachedRecipients: Int] = [:]
    for (number, (why, users)) in sorted.enumerated() {
      let kept =
        number < Self.limit ? why : UnreachedRecipients(cause: why.cause, reason: nil)
      merged[kept, default: 0] += users
    }
    return merged.sorted {
      ($1.value, $0.key.cause.rawValue, $0.key.reason ?? "")
        < ($0.value, $1.key.cause.rawValue, $1.key.reason ?? "")
    }.map { (why: $0.key, users: $0.value) }
  }

  private static func largest(_ groups: [[String]: RecipientFunnel]) -> [RecipientGroup] {
    let sorted = groups.filter { $0.key != other }.map { RecipientGroup(names: $0, funnel: $1) }
      .sorted {
        ($1.funnel.recipients, $0.names.joined(separator: " "))
          < ($0.funnel.recipients, $1.names.joined(separator: " "))
      }
    var rest = groups[other] ?? RecipientFunnel()
    for group in sorted.dropFirst(limit) { rest.add(group.funnel) }
    return Array(sorted.prefix(limit))
      + (rest.recipients > 0 ? [RecipientGroup(names: other, funnel: rest)] : [])
  }
}

extension RecipientFunnel {
  /// Counts a recipient.
  fileprivate mutating func add(_ reached: [CourseStep], isUnreached: Bool) {
    recipients += 1
    if isUnreached {
      unreachable += 1
    } else if reached.isEmpty {
      waiting += 1
    }
    for step in reached { steps[step, default: 0] += 1 }
  }

  fileprivate mutating func add(_ other: RecipientFunnel) {
    recipients += other.recipients
    waiting += other.waiting
    unreachable += other.unreachable
    steps.merge(other.steps, uniquingKeysWith: +)
  }
}
