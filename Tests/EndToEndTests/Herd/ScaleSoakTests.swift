import Foundation
import RichPushClient
import Testing

/// What much costs: connections, notifications, requests.
@Suite(.timeLimit(.minutes(15))) struct ScaleSoakTests {
  @Test func `idle connections are cheap`() async throws {
    let count = Soak.amount(short: 2000, long: 10_000)
    let flags = ["--demo", "--connections-per-address", "\(count + 10)"]
    try await RunningServer.lend(flags: flags) { server in
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      let facts = try #require(ProcessFacts(server.processIdentifier))
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
      // While the table grew, no connection would have been taken.
      #expect(ProcessFacts(server.processIdentifier)?.descriptorRoom == facts.descriptorRoom)
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
      var before = try await ask(early)
      print("memory: \(before >> 10) KiB after \(early) requests")
      // A busy machine may have everything in use at once that is kept then; what leaks grows each time.
      let growth = try await repeatedly(until: { (growth: Double) in growth <= 1.05 }) {
        let after = try await ask(late - early)
        print("memory: \(after >> 10) KiB after \(late - early) more")
        defer { before = after }
        return Double(after) / Double(before)
      }
      #expect(growth <= 1.05)
    }
  }

  /// As many notifications as asked for, made of the first, each for one of 1,000 users.
  private static let fill = """
    import sqlite3, sys
    table = sqlite3.connect(sys.argv[1])
    table.execute('PRAGMA recursive_triggers = OFF')
    names = [row[1] for row in table.execute('PRAGMA table_info(notification)')][1:]
    columns = ', '.join(names)
    count = int(sys.argv[2])
    for n in range(1, 1000):
        table.execute("INSERT INTO users(name, role, created) VALUES (?, 'device', 0)", (f'user{n}',))
    for n in range(1, count):
        table.execute(f'INSERT INTO notification(id, {columns}) SELECT ?, {columns} FROM notification WHERE id = 0', (n,))
        table.execute('INSERT INTO recipient(user_id, notification) SELECT id, ? FROM users WHERE name = ?',
                      (n, f'user{n}' if n < 1000 else 'alice'))
        table.execute('INSERT INTO push_event(user_id, notification, data, created) SELECT user_id, ?, data, created '
                      'FROM push_event WHERE sequence = 1', (n,))
    table.execute("UPDATE counter SET next = ? WHERE name = 'notification'", (count,))
    table.commit()
    table.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    """
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
