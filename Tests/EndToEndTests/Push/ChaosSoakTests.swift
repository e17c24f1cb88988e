import Foundation
import RichPushClient
import StandIns
import Testing

/// Push services that fail, stall and hang up, and a server that is killed, and upgraded in the middle: every push
/// arrives.
@Suite(.timeLimit(.minutes(60))) struct ChaosSoakTests {
  private static let notifications = Soak.amount(short: 42, long: 10_000)
  /// Those that the last release has sent before the upgrade.
  private static let earlier = Soak.amount(short: 26, long: 1000)
  private static let kills = Soak.amount(short: 2, long: 20)
  private static let publishers = 8
  /// Whom each lane has to reach: devices of alice's by their handles, and users whom only Azure knows.
  private static let reached = [
    "apns": ["0A", "0B", "0C"], "webhook": ["1A", "1B", "1C"],
    "azure": ["username:bob", "username:carol", "username:dora"],
    "webpush": ["2A", "2B", "2C"], "fcm": ["3A", "3B", "3C"],
  ]

  @Test func `what was acknowledged is what each device gets, over outages, kills and an upgrade`()
    async throws
  {
    let (webpush, fcm) = (try StandIn("webpush"), try StandIn("fcm"))
    let services = try PushServices(
      others: [webpush, fcm],
      [
        "RICHPUSH_FCM_CREDENTIALS_FILE": fcm.folder + "/service-account.json",
        "RICHPUSH_FCM_ENDPOINT": fcm.url,
      ])
    try await RunningServer.lend(
      flags: [
        "--demo", "--push", "apns,azure,fcm,webpush,webhook", "--push-allow",
        "localhost:\(webpush.port)", "--public-url", "https://push.example",
      ], environment: services.environment, programs: Soak.earlierPrograms
    ) { server in
      let lanes = [
        "apns": services.apns, "azure": services.azure, "webhook": services.webhook,
        "webpush": webpush, "fcm": fcm,
      ]
      for (number, service) in lanes.values.enumerated() {
        try service.tell([
          "do": "chaos", "rate": 0.1, "seed": number,
          "without": Soak.isLong ? [] : ["silence", "TooManyRequests"],
        ])
      }
      let alice = server.client("alice")
      for handle in Self.reached["apns"] ?? [] { try await alice.register(handle: handle) }
      for handle in Self.reached["webhook"] ?? [] {
        try await alice.register(handle: handle, platform: "mpns")
      }
      for name in Self.reached["webpush"] ?? [] {
        let subscription = try webpush.tell(["do": "subscribe", "name": name])
        let texts = try ["endpoint", "p256dh", "auth"].map {
          try #require(subscription[$0] as? String)
        }
        try await alice.register(name, endpoint: texts[0], p256dh: texts[1], auth: texts[2])
      }
      for handle in Self.reached["fcm"] ?? [] {
        try await alice.register(handle: handle, platform: "fcm")
      }
      var promises = ChaosPromises()
      if Soak.earlierPrograms == nil {
        print("chaos: no upgrade, since RICHPUSH_EARLIER_PROGRAMS names no programs")
      } else {
        promises = try await Self.publish(on: server, isEarlier: true)
        try await server.restart(by: SIGKILL, isUpgrade: true)
        let waiting = try await Self.count("state = 'queued'", server)
        print("chaos: upgraded while \(waiting) pushes waited")
      }
      let killer = Killer(server: server, kills: Self.kills, of: Self.notifications)
      promises.merge(
        try await Self.publish(on: server, isEarlier: false) { try await killer.hear(of: $0) })
      try await Self.drain(server, killer)
      #expect(await killer.kills == Self.kills)
      for (name, service) in lanes {
        let faults = promises.faults(
          in: try service.takenPushes(), of: name, to: Self.reached[name] ?? [])
        #expect(faults.isEmpty, "\(faults.count) faults, such as \(faults.prefix(9))")
      }
      #expect(
        try await Self.count("owner IS NOT NULL OR state IN ('queued', 'failed')", server) == 0)
    }
  }

  /// Sends them all, and does with each what its kind says.
  private static func publish(
    on server: RunningServer, isEarlier: Bool,
    progress: @escaping @Sendable (Int) async throws -> Void = { _ in }
  ) async throws -> ChaosPromises {
    try await withThrowingTaskGroup(of: ChaosPromises.self) { group in
      let numbers = isEarlier ? 0..<earlier : earlier..<earlier + notifications
      for publisher in 0..<publishers {
        group.addTask {
          var promises = ChaosPromises()
          for number in numbers where number % publishers == publisher {
            var notification = ChaosNotification(number, isEarlier: isEarlier)
            let isAcknowledged = try await notification.send(
              by: server.client("shop"), to: ["alice", "bob", "carol", "dora"])
            promises.add(notification, isAcknowledged: isAcknowledged)
            try await progress(1)
          }
          return promises
        }
      }
      return try await group.reduce(into: ChaosPromises()) { $0.merge($1) }
    }
  }

  /// Waits until no push waits any more, and kills the server on the way as often as is left.
  private static func drain(_ server: RunningServer, _ killer: Killer) async throws {
    let all = try await count("state = 'queued'", server)
    var left = all
    // All may have left before the last kill was due.
    var isOver = false
    while !isOver {
      try await killer.hear(ofQueued: left, of: all)
      try await Task.sleep(for: .milliseconds(100))
      left = try await count("state = 'queued'", server)
      let done = await killer.kills
      isOver = left == 0 && done == kills
    }
  }

  private static func count(_ condition: String, _ server: RunningServer) async throws -> Int {
    let script = """
      import sqlite3, sys
      base = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, timeout=30)
      print(base.execute(f"SELECT count(*) FROM job WHERE {sys.argv[2]}").fetchone()[0])
      """
    let database = server.scratch.folder.appending(path: "var/richpush.db").path
    let result = try await Child.run("/usr/bin/python3", ["-c", script, database, condition])
    return try #require(result.output.first.flatMap { Int($0) }, "\(result.errors)")
  }
}

/// Kills the server half of the times while notifications come, and half while pushes leave.
private actor Killer {
  private let server: RunningServer
  private let (most, notifications): (Int, Int)
  private var acknowledged = 0
  private(set) var kills = 0

  init(server: RunningServer, kills: Int, of notifications: Int) {
    (self.server, most, self.notifications) = (server, kills, notifications)
  }

  func hear(of count: Int) async throws {
    acknowledged += count
    guard kills < most / 2, acknowledged * (most / 2 + 1) >= notifications * (kills + 1) else {
      return
    }
    try await kill()
  }

  func hear(ofQueued left: Int, of all: Int) async throws {
    let rest = most - most / 2
    guard kills < most, left * rest <= all * (most - kills) else { return }
    try await kill()
  }

  private func kill() async throws {
    kills += 1
    try await server.restart(by: SIGKILL)
  }
}
