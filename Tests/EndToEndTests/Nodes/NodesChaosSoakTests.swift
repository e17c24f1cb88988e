import Foundation
import RichPushClient
import StandIns
import Synchronization
import Testing

/// Nodes that are upgraded and killed, a database that is restarted, an object store that hangs: nothing is lost.
@Suite(
  .enabled(if: Cluster.isPossible, "needs the packages postgresql-15 and haproxy"),
  .timeLimit(.minutes(30)))
struct NodesChaosSoakTests {
  private static let notifications = Soak.amount(short: 240, long: 10_000)
  /// Those that the last release has sent before the upgrade.
  private static let earlier = Soak.amount(short: 80, long: 1000)
  private static let publishers = 8
  private static let users = ["alice", "bob", "carol"]
  /// The handles of their devices.
  private static let devices = ["apns": ["0A", "0B", "0C"], "webhook": ["1A", "1B", "1C"]]

  @Test func `what was acknowledged is what each device gets, and every medium is as it was sent`()
    async throws
  {
    let services = try PushServices()
    try await Cluster.lend(
      flags: ["--push", "embedded,apns,webhook", "--public-url", "https://push.example"],
      environment: services.environment,
      programs: Soak.earlierPrograms, prepare: { try $0.addKeepingType() }
    ) { cluster in
      for (index, user) in Self.users.enumerated() {
        for (lane, platform) in [("apns", "apns"), ("webhook", "mpns")] {
          let handle = try #require(Self.devices[lane])[index]
          try await Cluster.patiently {
            _ = try await cluster.client(user).register(handle: handle, platform: platform)
          }
        }
      }
      let progress = SoakProgress("nodes")
      let faults = Faults(cluster, progress)
      var sent = try await Self.upgrade(cluster, progress)
      let follower = Task { try await Self.follow(cluster, progress) }
      async let faulty: Void = faults.run()
      let start = ContinuousClock.now
      sent.merge(try await Self.publish(on: cluster, isEarlier: false, progress))
      print("nodes: \(sent.promises.sent.count) acknowledged in \(ContinuousClock.now - start)")
      try await Self.drain(cluster)
      print("nodes: all pushes had left after \(ContinuousClock.now - start)")
      faults.end()
      try await faulty
      try await Self.drain(cluster)
      print("nodes: \(faults.kills) kills; database away \(faults.databaseTimes)")

      for (lane, service) in [("apns", services.apns), ("webhook", services.webhook)] {
        let faults = sent.promises.faults(
          in: try service.takenPushes(), of: lane, to: Self.devices[lane] ?? [])
        #expect(faults.isEmpty, "\(faults.count) faults, such as \(faults.prefix(9))")
      }
      let seen = try await Self.end(follower, cluster)
      let missed = sent.promises.sent.values.compactMap { notification -> String? in
        let told = notification.ids.last.flatMap { seen[$0] }
        // The stream tells no more of a confidential one than a locked screen.
        let isTold = told == notification.text || told != nil && notification.kind == .confidential
        return isTold || !notification.kind.arrives ? nil : "\(notification.text): \(told ?? "-")"
      }
      #expect(missed.isEmpty, "the stream missed \(missed.count)")
      try await Self.checkMedia(sent, cluster, progress)
    }
  }

  /// What was sent, and the media that were uploaded for it, by the numbers of the notifications.
  private struct Sent {
    var promises = ChaosPromises()
    var media: [Int: Data] = [:]

    mutating func merge(_ others: Sent) {
      promises.merge(others.promises)
      media.merge(others.media) { $1 }
    }
  }

  /// Sends some by the last release, and upgrades one node after the other; the others wait meanwhile.
  private static func upgrade(
    _ cluster: Cluster, _ progress: SoakProgress
  ) async throws -> Sent {
    guard Soak.earlierPrograms != nil else {
      print("nodes: no upgrade, since RICHPUSH_EARLIER_PROGRAMS names no programs")
      return Sent()
    }
    let sent = try await publish(on: cluster, isEarlier: true, progress)
    for (index, node) in cluster.nodes.enumerated() {
      try await node.restart(by: index == 0 ? SIGKILL : SIGTERM, isUpgrade: true)
    }
    let waiting = try cluster.database.query("SELECT count(*) FROM job WHERE state = 'queued'")
    print("nodes: upgraded while \(waiting) pushes waited")
    return sent
  }

  /// Sends them all, does with each what its kind says, and uploads a file for every fiftieth.
  private static func publish(
    on cluster: Cluster, isEarlier: Bool, _ progress: SoakProgress
  ) async throws -> Sent {
    let scratch = try Scratch()
    let numbers = isEarlier ? 0..<earlier : earlier..<earlier + notifications
    return try await withThrowingTaskGroup(of: Sent.self) { group in
      for publisher in 0..<publishers {
        group.addTask {
          let shop = cluster.client("shop")
          var sent = Sent()
          for number in numbers where number % publishers == publisher {
            var notification = ChaosNotification(number, isEarlier: isEarlier)
            var medium: (richType: String, payload: String)?
            if notification.kind == .alert, sent.media.count < max(1, notifications / 400) {
              let bytes = (0..<20_000).map { _ in UInt8.random(in: .min ... .max) }
              let new = try scratch.drop(bytes, as: "\(number).bin")
              try await Cluster.patiently { _ = try await shop.upload(new, richType: "keep") }
              (sent.media[number], medium) = (Data(bytes), ("keep", "\(number).bin"))
            }
            let isAcknowledged = try await notification.send(by: shop, to: users, with: medium)
            sent.promises.add(notification, isAcknowledged: isAcknowledged)
            progress.add("acknowledged")
          }
          return sent
        }
      }
      return try await group.reduce(into: Sent()) { $0.merge($1) }
    }
  }

  private static func drain(_ cluster: Cluster) async throws {
    while (try? cluster.database.query(
      "SELECT count(*) FROM job WHERE state = 'queued' OR owner IS NOT NULL")) != "0"
    { try await Task.sleep(for: .milliseconds(200)) }
  }

  /// Every medium is what was sent, from one node or the other.
  private static func checkMedia(
    _ sent: Sent, _ cluster: Cluster, _ progress: SoakProgress
  ) async throws {
    let logo = Data(try Package.bytes("assets/img/logo.png"))
    let kept = sent.promises.sent.values.filter { $0.kind.arrives && $0.kind != .confidential }
    try await withThrowingTaskGroup { group in
      for lane in 0..<8 {
        group.addTask {
          for notification in kept where notification.number % 8 == lane {
            let medium = sent.media[notification.number]
            let id = try #require(notification.ids.last)
            // The uploaded media, from all of them.
            let nodes = medium == nil ? [cluster.nodes[id % 3]] : cluster.nodes
            for node in nodes {
              let bytes = try await Cluster.patiently {
                try await node.client("alice").media(id).bytes
              }
              #expect(bytes == medium ?? logo, "\(id): \(bytes.count) bytes")
              progress.add("media")
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

// MARK: - A stream through the balancer

extension NodesChaosSoakTests {
  /// The last message of each notification on alice's stream, until its task is cancelled.
  private static func follow(
    _ cluster: Cluster, _ progress: SoakProgress
  ) async throws -> [Int: String] {
    var (seen, events): ([Int: String], Set<String>) = ([:], [])
    do {
      for try await event in cluster.client("alice").events(after: "0") {
        #expect(events.insert(event.id).inserted, "the event \(event.id) came again")
        progress.add("events")
        let message = event.push.message.text
        for id in event.push.ids { seen[id] = message }
        if message == "the end" { break }
      }
    } catch is CancellationError {}
    return seen
  }

  private static func end(
    _ follower: Task<[Int: String], any Error>, _ cluster: Cluster
  ) async throws -> [Int: String] {
    var new = NewNotification.logo(to: "alice", "the end")
    new.idempotencyKey = "the end"
    _ = try await Cluster.patiently { [new] in try await cluster.client("shop").create(new) }
    return try await follower.value
  }
}

/// What goes wrong meanwhile: a node is killed ten seconds after the last one is back, and besides, in turn, the
/// database is restarted, the object store hangs, the database crashes.
private final class Faults: Sendable {
  private let cluster: Cluster
  private let progress: SoakProgress
  private let state = Mutex((isOver: false, kills: 0, databaseTimes: [Duration]()))
  private static let interval = Duration.seconds(Soak.amount(short: 3, long: 10))

  init(_ cluster: Cluster, _ progress: SoakProgress) {
    (self.cluster, self.progress) = (cluster, progress)
  }

  var kills: Int { state.withLock { $0.kills } }
  var databaseTimes: [Duration] { state.withLock { $0.databaseTimes } }

  func end() { state.withLock { $0.isOver = true } }

  func run() async throws {
    for number in 0... {
      // Not by the clock: where a start takes as long as that, nothing else would be done.
      try await Task.sleep(for: Self.interval)
      // All of them happen at least once.
      if number >= 4, state.withLock({ $0.isOver }) { return }
      let node = cluster.nodes[number % cluster.nodes.count]
      node.send(SIGKILL)
      state.withLock { $0.kills += 1 }
      progress.add("kills")
      try await Task.sleep(for: .seconds(1))
      try await node.restart(by: SIGKILL)
      switch number {
      case 0, 2: try restartDatabase(crashing: number == 2)
      case 1:
        try cluster.objects.tell(["do": "pause"])
        try await Task.sleep(for: Self.interval / 2)
        try cluster.objects.tell(["do": "resume"])
      default: break
      }
    }
  }

  private func restartDatabase(crashing: Bool) throws {
    let (database, start) = (cluster.database, ContinuousClock.now)
    if crashing { try database.crash() } else { try database.stop() }
    try database.start()
    state.withLock { $0.databaseTimes.append(.now - start) }
  }
}
