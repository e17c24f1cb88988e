import Foundation
import RichPushClient
import StandIns
import Testing

/// Push services that fail, stall and hang up, and a server that is killed: every push arrives.
@Suite(.timeLimit(.minutes(60))) struct ChaosSoakTests {
  private static let notifications = Soak.amount(short: 15, long: 10_000)
  private static let kills = Soak.amount(short: 2, long: 20)
  private static let publishers = 8
  /// Whom each lane has to reach: devices of alice's by their handles, and users whom only Azure knows.
  private static let reached = [
    "apns": ["0A", "0B", "0C"], "webhook": ["1A", "1B", "1C"],
    "azure": ["username:bob", "username:carol", "username:dora"],
    "webpush": ["2A", "2B", "2C"], "fcm": ["3A", "3B", "3C"],
  ]

  @Test func `every acknowledged push arrives at each device, over outages and kills`()
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
        "localhost:\(webpush.port)",
      ], environment: services.environment
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
      let killer = Killer(server: server, kills: Self.kills, of: Self.notifications)
      let acknowledged = try await Self.publish(on: server) { try await killer.hear(of: $0) }
      try await Self.drain(server, killer)
      #expect(acknowledged.count == Self.notifications)
      #expect(await killer.kills == Self.kills)
      for (name, service) in lanes {
        try Self.check(try service.takenPushes(), against: acknowledged, of: name)
      }
      #expect(
        try await Self.count("owner IS NOT NULL OR state IN ('queued', 'failed')", server) == 0)
    }
  }

  /// Creates them all, and changes every tenth; gives the last acknowledged message of each.
  private static func publish(
    on server: RunningServer, progress: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> [Int: String] {
    try await withThrowingTaskGroup(of: [Int: String].self) { group in
      for publisher in 0..<publishers {
        group.addTask {
          var acknowledged: [Int: String] = [:]
          for number in stride(from: publisher, to: notifications, by: publishers) {
            var new = NewNotification(
              "\(number)", richType: "img", payload: "logo.png",
              to: .users(["alice", "bob", "carol", "dora"]))
            (new.form, new.idempotencyKey) = (.alert, "\(number)")
            let id = try await patiently { try await server.client("shop").create(new).id }
            acknowledged[id] = new.message.text
            if number.isMultiple(of: 10) {
              acknowledged[id] = "\(number) changed"
              _ = try await patiently {
                try await server.client("shop").amend(id, Amendment(message: "\(number) changed"))
              }
            }
            try await progress(1)
          }
          return acknowledged
        }
      }
      return try await group.reduce(into: [:]) { $0.merge($1) { $1 } }
    }
  }

  /// Repeats what the server was not there to answer.
  private static func patiently<Value>(_ body: () async throws -> Value) async throws -> Value {
    while true {
      do { return try await body() } catch let error as RichPushError
        where [.unreachable, .unavailable].contains(error.code)
      {
        try await Task.sleep(for: .milliseconds(50))
      }
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

// MARK: - What arrived

extension ChaosSoakTests {
  /// Each device got the last message of each, under one id each, and never an older one after it.
  private static func check(
    _ deliveries: [TakenPush], against acknowledged: [Int: String], of lane: String
  ) throws {
    var last: [String: String] = [:]
    var ids: [String: Set<String>] = [:]
    for delivery in deliveries {
      let key = "\(delivery.device) \(delivery.notification)"
      last[key] = delivery.message
      ids["\(key) \(delivery.message)", default: []].insert(delivery.id)
    }
    var wrong: [String] = []
    for (id, message) in acknowledged {
      for handle in reached[lane] ?? [] where last["\(handle) \(id)"] != message {
        wrong.append("\(handle) \(id): \(last["\(handle) \(id)"] ?? "nothing") for \(message)")
      }
    }
    #expect(wrong.isEmpty, "\(lane): \(wrong.count) wrong, such as \(wrong.prefix(5))")
    #expect(ids.values.allSatisfy { $0.count == 1 }, "\(lane) repeats under another id")
    let repeated = deliveries.count - ids.count
    print("chaos: \(lane) took \(deliveries.count) pushes, \(repeated) of them again")
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
