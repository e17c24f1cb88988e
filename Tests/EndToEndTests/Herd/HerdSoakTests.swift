import Foundation
import RichPushClient
import Synchronization
import Testing

/// A million phones, one second after the push: what one machine and a test can show of it.
@Suite(.timeLimit(.minutes(15))) struct HerdSoakTests {
  /// Devices that want a rendition at the same time.
  private static let devices = 20
  /// Renditions that are wanted at the same time.
  private static let threads = 32

  @Test(arguments: ["img", "url"])
  func `a cold herd has each rendition made once, and waits for little else`(
    richType: String
  ) async throws {
    let count = Soak.amount(short: 64, long: 1000)
    try await RunningServer.lend { server in
      let shop = server.client("shop")
      var targets: [String] = []
      for number in 0..<count {
        let picture = number % 2 == 0 ? "logo.png" : "beach.jpg"
        let new = NewNotification(
          "Look", richType: richType,
          payload: richType == "img" ? picture : "https://www.swift.org/\(number)",
          to: .users((0..<Self.devices).map { "phone\($0)" }))
        // No two ask the same of one picture: sizes of the ladder, each whole or cut.
        let (width, height) = (Self.ladder[number / 2 % 16], Self.ladder[number / 32 % 16])
        let fit = number / 512 == 0 ? "cover" : "contain"
        targets.append(
          "/api/notifications/\(try await shop.create(new).id)"
            + "?width=\(width)&height=\(height)&fit=\(fit)")
      }
      // The folder's assets are prepared in the background, and that counts as made too.
      while try await shop.assetCounts().ready < 4 { await Task.yield() }
      let before = try await Self.renditions(server, "made")
      let cold = try await Self.herd(targets, server)
      #expect(try await Self.renditions(server, "made") - before == count)
      let warm = try await Self.herd(targets, server)
      #expect(try await Self.renditions(server, "made") - before == count)
      let (late, usual) = (cold[cold.count * 99 / 100], warm[warm.count / 2])
      print("herd of \(richType): cold p99 \(late), warm median \(usual), \(late / usual) times")
      // A picture takes the time of its decoder, which is not what is looked at here.
      if Soak.isLong, richType == "url" { #expect(late < usual * 10) }
    }
  }

  @Test func `idle connections are cheap`() async throws {
    let count = Soak.amount(short: 2000, long: 10_000)
    let flags = ["--demo", "--connections-per-address", "\(count + 10)"]
    try await RunningServer.lend(flags: flags) { server in
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      var phones: [Phone] = []
      for _ in 0..<count {
        let phone = try Phone(port: server.port)
        try phone.ask("/api/notifications/\(id)?profile=thumb", "alice")
        #expect(try phone.answer().status == 200)
        phones.append(phone)
      }
      let resident = try server.residentBytes()
      print("idle: \(count) connections, \(resident >> 20) MiB resident")
      // 200 MiB for 10,000, of which 50 are the server's own.
      #expect(resident < (50 << 20) + count * (150 << 20) / 10_000)
      for phone in [phones[0], phones[count - 1]] {
        try phone.ask("/api/notifications/\(id)?profile=thumb", "alice")
        #expect(try phone.answer().status == 200)
      }
    }
  }

  @Test func `a full store does not make the start slow`() async throws {
    let count = Soak.amount(short: 20_000, long: 100_000)
    try await RunningServer.lend { empty in
      try await RunningServer.lend { full in
        for server in [empty, full] {
          _ = try await server.client("shop").create(.logo(to: "alice"))
        }
        let fill = try await Child.run(
          "/usr/bin/python3",
          ["-c", Self.fill, full.scratch.folder.path + "/var/richpush.db", "\(count)"])
        #expect(fill.exitCode == 0, "\(fill.errors)")
        #expect(try await full.client("user9").inbox().notifications.count == 1)
        var times: [[Duration]] = [[], []]
        for _ in 0..<Soak.amount(short: 3, long: 15) {
          for (place, server) in [empty, full].enumerated() {
            let start = try await server.restart(by: SIGTERM)
            let phone = try Phone(port: server.port)
            try phone.ask("/api/notifications/0", "alice")
            #expect(try phone.answer().status == 200)
            times[place].append(.now - start)
          }
        }
        let (empty, full) = (try #require(times[0].min()), try #require(times[1].min()))
        print("start: \(empty) empty, \(full) with \(count) notifications")
        // A few starts beside other work say little: the long form holds the promise.
        #expect(!Soak.isLong || full < empty * 1.5)
      }
    }
  }

  @Test func `memory does not grow with the requests`() async throws {
    let (early, late) = (
      Soak.amount(short: 4000, long: 20_000), Soak.amount(short: 12_000, long: 200_000)
    )
    try await RunningServer.lend { server in
      var ids: [Int] = []
      for number in 0..<40 {
        let user = "phone\(number)"
        ids.append(try await server.client("shop").create(.logo(to: user)).id)
      }
      let targets = ids
      func ask(_ requests: Int) async throws -> Int {
        try await onThreads(8) { thread in
          let phone = try Phone(port: server.port)
          for number in 0..<(requests / 8) {
            let place = (number * 8 + thread) % targets.count
            let (target, user) = ("/api/notifications/\(targets[place])", "phone\(place)")
            switch number % 8 {
            case 0: try phone.ask(target + "?width=\(96 + number % 3 * 64)", user)
            case 1: try phone.ask(target, user, fields: "If-None-Match: *\r\n")
            case 2: try phone.ask(target, user, fields: "Range: bytes=0-99,200-299\r\n")
            case 3: try phone.ask(target, user, method: "HEAD")
            case 4: try phone.ask("/api/notifications?limit=5", user)
            case 5: try phone.ask(target + "/details", user)
            case 6: try phone.ask(target, "nobody")
            default: try phone.ask(target, user)
            }
            let status = try phone.answer().status
            #expect([200, 206, 304, 404].contains(status), "\(status)")
          }
        }
        return try server.residentBytes()
      }
      let (before, after) = (try await ask(early), try await ask(late - early))
      print("memory: \(before >> 10) KiB after \(early) requests, \(after >> 10) after \(late)")
      #expect(after * 100 <= before * 105)
    }
  }

  private static let ladder = [
    64, 96, 128, 160, 240, 320, 400, 480, 512, 640, 750, 828, 1080, 1170, 1440, 1920, 2560,
  ]

  /// As many notifications as asked for, made of the first, each for one of 1,000 users.
  private static let fill = """
    import sqlite3, sys
    table = sqlite3.connect(sys.argv[1])
    table.execute('PRAGMA recursive_triggers = OFF')
    names = [row[1] for row in table.execute('PRAGMA table_info(notification)')][1:]
    columns = ', '.join(names)
    count = int(sys.argv[2])
    for n in range(1, count):
        table.execute(f'INSERT INTO notification(id, {columns}) SELECT ?, {columns} FROM notification WHERE id = 0', (n,))
        table.execute('INSERT INTO recipient(user, notification) VALUES (?, ?)', (f'user{n}' if n < 1000 else 'alice', n))
        table.execute('INSERT INTO push_event(user, notification, data, created) SELECT user, ?, data, created '
                      'FROM push_event WHERE sequence = 1', (n,))
    table.execute("UPDATE counter SET next = ? WHERE name = 'notification'", (count,))
    table.commit()
    table.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    """

  /// Every target asked for by all devices at once; the times they waited, from the shortest.
  private static func herd(_ targets: [String], _ server: RunningServer) async throws -> [Duration]
  {
    let times = Mutex<[Duration]>([])
    let next = Atomic(0)
    try await onThreads(threads) { _ in
      let phones = try (0..<devices).map { _ in try Phone(port: server.port) }
      while case let turn = next.add(1, ordering: .relaxed).oldValue, turn < targets.count {
        for (number, phone) in phones.enumerated() {
          try phone.ask(targets[turn], "phone\(number)")
        }
        for (number, phone) in phones.enumerated() {
          let start = ContinuousClock.now
          var answer = try phone.answer()
          var waited = answer.time
          // Beyond the bounded queue there is 503 at once, and a phone comes back.
          while answer.status == 503 {
            try phone.ask(targets[turn], "phone\(number)")
            answer = try phone.answer()
            waited = .now - start
          }
          #expect(answer.status == 200)
          let time = waited
          times.withLock { $0.append(time) }
        }
      }
    }
    return times.withLock { $0.sorted() }
  }

  /// What `/metrics` says about renditions.
  private static func renditions(_ server: RunningServer, _ outcome: String) async throws -> Int {
    let page = try RawConnection(port: server.port).exchange("GET /metrics HTTP/1.1\r\n").text
    let line = page.split(separator: "\n").first {
      $0.hasPrefix("richpush_renditions_total{outcome=\"\(outcome)\"}")
    }
    return try #require(line.flatMap { Int($0.split(separator: " ").last ?? "") })
  }
}

extension RunningServer {
  /// The memory that the server itself holds, without its plugins.
  func residentBytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(processIdentifier)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return try #require(line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first)
      << 10
  }
}
