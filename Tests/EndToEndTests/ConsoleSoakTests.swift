import Foundation
import RichPushClient
import Testing

/// What an open page of the console costs while a hundred thousand phones fetch; only in `make soak`.
@Suite(.timeLimit(.minutes(30)), .enabled(if: Soak.isLong, "make soak")) struct ConsoleSoakTests {
  private static let phones = 100_000
  private static let notifications = 5

  @Test func `a page that follows many fetches is light, for the browser and for the server`()
    async throws
  {
    try await RunningServer.lend { server in
      let shop = server.client("shop")
      var ids: [Int] = []
      for _ in 0..<Self.notifications { ids.append(try await shop.create(.logo(to: "alice")).id) }
      let database = server.scratch.folder.path + "/var/richpush.db"
      let fill = try await Child.run(
        "/usr/bin/python3", ["-c", Self.fill, database, "\(Self.phones)"] + ids.map(String.init))
      #expect(fill.exitCode == 0, "\(fill.errors)")
      server.send(SIGHUP)
      let herd = server.scratch.folder.path + "/herd"
      let compiled = try await Child.run(
        "/usr/bin/cc",
        [
          "-D_GNU_SOURCE", "-O2", "-o", herd,
          Package.root.path + "/Tests/StandIns/Services/herd.c",
        ])
      try #require(compiled.exitCode == 0, "\(compiled.errors)")
      let python = Package.root.appending(path: ".build/tools/bin/python").path
      let script = Package.root.appending(path: "Tests/EndToEndTests/Console/soak.py").path
      let result = try await Child.run(
        python,
        [script, server.endpoint.absoluteString, "\(server.processIdentifier)", herd]
          + ["\(Self.phones)"] + ids.map(String.init),
        environment: ["HOME": server.scratch.folder.path])
      try #require(result.exitCode == 0, "\(result.errors)")
      let line = try #require(result.output.last)
      let figures = try JSONDecoder().decode([String: Double].self, from: Data(line.utf8))
      let (without, with) = (try #require(figures["without"]), try #require(figures["with"]))
      print("console: \(line), the server takes \(with / without) of its time with a page")
      #expect(try #require(figures["cores"]) < 0.5)
      #expect(try #require(figures["memory"]) < 200)
      // Measured within 3%; other work on the machine is allowed for.
      #expect(with < without * 1.1)
    }
  }

  /// Users `phone0` and so on, who are recipients of all notifications.
  private static let fill = """
    import sqlite3, sys
    table = sqlite3.connect(sys.argv[1], timeout=60)
    count = int(sys.argv[2])
    table.executemany("INSERT INTO users(name, role, created) VALUES (?, 'device', 0)",
                      ((f'phone{n}',) for n in range(count)))
    for id in sys.argv[3:]:
        table.execute("INSERT INTO recipient(user_id, notification) SELECT id, ? FROM users WHERE name GLOB 'phone*'", (id,))
        table.execute('UPDATE notification_count SET recipients = recipients + ? WHERE notification = ?', (count, id))
    table.commit()
    """
}
