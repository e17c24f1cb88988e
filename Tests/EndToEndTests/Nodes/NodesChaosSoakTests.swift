import Foundation
import RichPushClient
import StandIns
import Synchronization
import Testing

/// Nodes that are killed, a database that is restarted, an object store that hangs: nothing is lost.
@Suite(
  .enabled(if: Cluster.isPossible, "needs the packages postgresql-15 and haproxy"),
  .timeLimit(.minutes(10)))
struct NodesChaosSoakTests {
  private static let notifications = Soak.amount(short: 400, long: 10_000)
  private static let publishers = 8
  /// Each has a device with this handle.
  private static let users = ["alice": "0A", "bob": "0B", "carol": "0C"]

  @Test func `every acknowledged push arrives under one id, and every medium is as it was sent`()
    async throws
  {
    let apns = try PushServices()
    try await Cluster.lend(
      flags: ["--push", "embedded,apns"], environment: apns.environment,
      prepare: { try $0.addKeepingType() }
    ) { cluster in
      for (user, handle) in Self.users {
        try await Cluster.patiently {
          _ = try await cluster.client(user).register(handle: handle)
        }
      }
      let progress = SoakProgress("nodes")
      let faults = Faults(cluster, progress)
      let follower = Task { try await Self.follow(cluster, progress) }
      async let faulty: Void = faults.run()
      let start = ContinuousClock.now
      let sent = try await Self.publish(on: cluster, progress)
      print("nodes: \(sent.count) acknowledged in \(ContinuousClock.now - start)")
      try await Self.drain(cluster)
      print("nodes: all pushes had left after \(ContinuousClock.now - start)")
      faults.end()
      try await faulty
      try await Self.drain(cluster)
      print("nodes: \(faults.kills) kills; database away \(faults.databaseTimes)")

      #expect(sent.count == Self.notifications)
      try Self.check(try apns.apns.takenPushes(), against: sent)
      let seen = try await Self.end(follower, cluster)
      let missed = sent.filter { seen[$0.key] != $0.value.message }
      #expect(missed.isEmpty, "the stream missed \(missed.count), such as \(missed.keys.prefix(5))")
      try await Self.checkMedia(sent, cluster, progress)
    }
  }

  /// What was sent with a notification.
  private struct Sent {
    var message: String
    /// Its medium; nil for the sample picture.
    let medium: Data?
  }

  /// Creates them all, changes every tenth, and uploads a file for every fiftieth.
  private static func publish(
    on cluster: Cluster, _ progress: SoakProgress
  ) async throws -> [Int: Sent] {
    let scratch = try Scratch()
    return try await withThrowingTaskGroup(of: [Int: Sent].self) { group in
      for publisher in 0..<publishers {
        group.addTask {
          let shop = cluster.client("shop")
          var sent: [Int: Sent] = [:]
          for number in stride(from: publisher, to: notifications, by: publishers) {
            var (medium, payload): (Data?, String) = (nil, "logo.png")
            if number % 50 < publishers, number % 8 == 0 {
              let bytes = (0..<20_000).map { _ in UInt8.random(in: .min ... .max) }
              let new = try scratch.drop(bytes, as: "\(number).bin")
              try await Cluster.patiently { _ = try await shop.upload(new, richType: "keep") }
              (medium, payload) = (Data(bytes), "\(number).bin")
            }
            var new = NewNotification(
              "\(number)", richType: medium == nil ? "img" : "keep", payload: payload,
              to: .users(Array(users.keys)))
            (new.form, new.idempotencyKey) = (.alert, "\(number)")
            let id = try await Cluster.patiently { [new] in try await shop.create(new).id }
            sent[id] = Sent(message: new.message.text, medium: medium)
            progress.add("acknowledged")
            if number.isMultiple(of: 10) {
              let change = Amendment(message: "\(number) changed")
              _ = try await Cluster.patiently { try await shop.amend(id, change) }
              sent[id]?.message = "\(number) changed"
            }
          }
          return sent
        }
      }
      return try await group.reduce(into: [:]) { $0.merge($1) { $1 } }
    }
  }

  private static func drain(_ cluster: Cluster) async throws {
    while (try? cluster.database.query(
      "SELECT count(*) FROM job WHERE state = 'queued' OR owner IS NOT NULL")) != "0"
    { try await Task.sleep(for: .milliseconds(200)) }
  }

  /// Each device got the last message of each, under one ID each, and never an older one after it.
  private static func check(_ pushes: [TakenPush], against sent: [Int: Sent]) throws {
    var last: [String: String] = [:]
    var ids: [String: Set<String>] = [:]
    for push in pushes {
      let key = "\(push.device) \(push.notification)"
      last[key] = push.message
      ids["\(key) \(push.message)", default: []].insert(push.id)
    }
    let wrong = sent.flatMap { id, sent in
      users.values.filter { last["\($0) \(id)"] != sent.message }
        .map { "\($0) \(id): \(last["\($0) \(id)"] ?? "nothing") for \(sent.message)" }
    }
    #expect(wrong.isEmpty, "\(wrong.count) wrong, such as \(wrong.prefix(5))")
    let several = ids.filter { $0.value.count > 1 }
    #expect(several.isEmpty, "\(several.count) under several IDs, such as \(several.prefix(3))")
    print("nodes: \(pushes.count) pushes, \(pushes.count - ids.count) of them again")
  }

  /// Every medium is what was sent, from one node or the other.
  private static func checkMedia(
    _ sent: [Int: Sent], _ cluster: Cluster, _ progress: SoakProgress
  ) async throws {
    let logo = Data(try Package.bytes("assets/img/logo.png"))
    try await withThrowingTaskGroup { group in
      for lane in 0..<8 {
        let part = sent.filter { $0.key % 8 == lane }
        group.addTask {
          for (id, sent) in part {
            // The uploaded media, from all of them.
            let nodes = sent.medium == nil ? [cluster.nodes[id % 3]] : cluster.nodes
            for node in nodes {
              let bytes = try await Cluster.patiently {
                try await node.client("alice").media(id).bytes
              }
              #expect(bytes == sent.medium ?? logo, "\(id): \(bytes.count) bytes")
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

/// What goes wrong meanwhile: a node is killed every ten seconds, and besides, in turn, the database is
/// restarted, the object store hangs, the database crashes.
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
    var next = ContinuousClock.now
    for number in 0... {
      next += Self.interval
      try await Task.sleep(until: next)
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
