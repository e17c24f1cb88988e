import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// What the server does while the data folder's file system has no space.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled(if: getuid() == 0, "a small file system is mounted, which takes root"))
struct FullDiskSystemTests {
  /// Starts a server whose data folder is a small file system; `fill` leaves no byte free on it.
  private func lend(
    flags: [String] = [],
    to body: (RunningServer, PushServices, _ fill: String) async throws -> Void
  ) async throws {
    let services = try PushServices()
    var mounted = ""
    defer { if !mounted.isEmpty { umount2(mounted, Int32(MNT_DETACH)) } }
    try await RunningServer.lend(
      flags: ["--demo", "--push", "apns"] + flags, environment: services.environment
    ) { scratch in
      let data = try scratch.makeFolder("var").path
      let mount = try await Child.run(
        "/bin/mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", data])
      try #require(mount.exitCode == 0, "\(mount.errors)")
      mounted = data
    } to: {
      try await body($0, services, mounted + "/ballast")
    }
  }

  /// Takes every byte there is.
  private func fill(_ path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(file) }
    let zeros = [UInt8](repeating: 0, count: 65_536)
    var size = zeros.count
    while size > 0 { if write(file, zeros, size) <= 0 { size /= 2 } }
  }

  private func post(_ server: RunningServer, _ message: String) throws -> RawConnection.Answer {
    let body =
      #"{"message":"\#(message)","richType":"img","payload":"logo.png","to":["username:alice"],"#
      + #""form":"alert"}"#
    return try RawConnection(port: server.port).exchange(
      "POST /api/notifications HTTP/1.1\r\nAuthorization: Basic c2hvcDpzaG9w\r\n"
        + "Content-Length: \(body.utf8.count)\r\n",
      body: Array(body.utf8))
  }

  @Test func `refuses what cannot be stored, loses nothing that was, and goes on with space`()
    async throws
  {
    try await lend { server, services, ballast in
      try await server.client("alice").register(handle: "AB12")
      // Until then the pushes wait in the outbox.
      try services.apns.answer(["*": [["status": 503, "reason": "ServiceUnavailable"]]])
      var acknowledged: [String] = []
      var refused: [String] = []
      for number in 0..<5 {
        let answer = try post(server, "early \(number)")
        #expect(answer.status == 201, "\(answer.text)")
        acknowledged.append("early \(number)")
      }
      fill(ballast)
      for number in 0..<5 {
        let answer = try post(server, "late \(number)")
        guard answer.status != 201 else {
          acknowledged.append("late \(number)")  // it found space
          continue
        }
        refused.append("late \(number)")
        #expect(answer.status == 507, "\(answer.text)")
        #expect(answer.fields["content-type"] == "application/problem+json")
        #expect(answer.text.contains("full"))
      }
      #expect(!refused.isEmpty)
      try services.apns.answer([:])
      try FileManager.default.removeItem(atPath: ballast)
      try await eventually("there is space again") { try post(server, "last").status == 201 }
      acknowledged.append("last")
      var arrived: Set<String> = []
      try await eventually("everything acknowledged arrives") {
        arrived.formUnion(try services.apns.delivered())
        return arrived.isSuperset(of: acknowledged)
      }
      #expect(arrived.isDisjoint(with: refused))
    }
  }

  @Test func `publishers are told at once that the disk is full, while phones are served`()
    async throws
  {
    try await lend { server, _, ballast in
      func ready(_ query: String = "") throws -> RawConnection.Answer {
        try server.get("/readyz" + query)
      }
      #expect(try post(server, "early").status == 201)
      let answer = try ready("?for=publishing")
      #expect(answer.status == 200, "\(answer.text)")
      fill(ballast)
      // An answer is as old as a second.
      try await eventually("publishing is refused, before anybody has tried") {
        try ready("?for=publishing").status == 503
      }
      let full = try ready("?for=publishing")
      #expect(full.text.contains("full") && full.fields["retry-after"] != nil, "\(full.text)")
      #expect(!full.text.contains(server.scratch.folder.path), "\(full.text)")
      #expect(try ready().status == 200)
      #expect(try await server.client("alice").media(0).contentType == "image/png")
      #expect(try server.measured(#"richpush_ready{for="publishing"}"#) == 0)
      #expect(try server.measured(#"richpush_ready{for="devices"}"#) == 1)
      #expect(server.log.contains("publishing is disturbed: The store takes nothing new"))
      try FileManager.default.removeItem(atPath: ballast)
      try await eventually("there is space again") { try ready("?for=publishing").status == 200 }
      #expect(server.log.contains("publishing is possible again"))
      #expect(!server.log.contains("devices cannot be served"))
    }
  }

  @Test func `the receipt of a push is written nevertheless, and the push is not sent again`()
    async throws
  {
    try await lend { server, services, ballast in
      try await server.client("alice").register(handle: "AB12")
      try services.apns.answer(["*": [["status": 200, "isHeld": true]]])
      #expect(try post(server, "a").status == 201)
      try await eventually("it is under way") {
        try (services.apns.tell(["do": "requests"])["requests"] as? [Any])?.isEmpty == false
      }
      fill(ballast)
      try services.apns.tell(["do": "release"])
      try await eventually("the receipt is there") {
        try server.deliveries(of: 0) == ["apns sent"]
      }
      #expect(try post(server, "b").status == 507, "it is full")
      try await server.restart(by: SIGKILL)
      #expect(try server.deliveries(of: 0) == ["apns sent"])
      #expect(try services.apns.delivered().count == 1)
    }
  }

  @Test
  func `what is small is stored and survives a kill, and with space all is, without a restart`()
    async throws
  {
    try await lend { server, _, ballast in
      let (alice, shop) = (server.client("alice"), server.client("shop"))
      for message in ["fetched", "withdrawn"] { #expect(try post(server, message).status == 201) }
      let cookie = try server.signIn("shop", "shop")
      func session(_ method: String) throws -> Int {
        try RawConnection(port: server.port).exchange(
          "\(method) /api/session HTTP/1.1\r\nSec-Fetch-Site: same-origin\r\nCookie: \(cookie)\r\n"
        ).status
      }
      #expect(try session("GET") == 200)
      fill(ballast)
      let refused = try post(server, "late")
      #expect(refused.status == 507 && refused.fields["retry-after"] != nil)
      #expect(refused.text.contains("the disk of the data folder is full"), "\(refused.text)")
      let file = [UInt8](repeating: 7, count: 100_000)
      let upload = try RawConnection(port: server.port).exchange(
        "PUT /api/assets/img/late.png HTTP/1.1\r\n\(RunningServer.credentials("shop"))\r\n"
          + "Content-Length: \(file.count)\r\n", body: file)
      #expect(upload.status == 507 && upload.fields["retry-after"] != nil, "\(upload.text)")
      // A picture of a size that nobody has asked for, and so of no file.
      let media = try await alice.media(0, options: MediaOptions(width: 77))
      #expect(media.contentType == "image/png")
      try await shop.withdraw(1)
      #expect(try session("DELETE") == 204)
      func isAllThere() async throws -> Bool {
        let receipt = try await shop.receipts(of: 0).receipts.first
        let inbox = try await alice.inbox().notifications.map(\.id)
        return try receipt?.fetched != nil && inbox == [0] && session("GET") == 401
      }
      try await eventually("the receipt is there") { try await isAllThere() }
      try await eventually("the operator is told") {
        try server.measured(#"richpush_condition{code="disk.full"}"#) == 1
      }
      #expect(server.log.matches(of: #/is full \(\d+ MB free\)/#).count == 1, "\(server.log)")
      try await server.restart(by: SIGKILL)
      #expect(try await isAllThere())
      #expect(try post(server, "later").status == 507)
      try await eventually("the operator is told again") {
        try server.measured(#"richpush_condition{code="disk.full"}"#) == 1
      }
      try FileManager.default.removeItem(atPath: ballast)
      try await eventually("there is space again") { try post(server, "last").status == 201 }
      try await eventually("the operator is told that, too") {
        try server.measured(#"richpush_condition{code="disk.full"}"#) == 0
          && server.log.contains("there is space again")
      }
      #expect(try server.measured(#"richpush_disk_free_bytes{folder="data"}"#) > 16e6)
    }
  }

  @Test(.enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"))
  func `with PostgreSQL only files wait for space`() async throws {
    let database = try PostgresServer()
    try await lend(flags: ["--database", database.url]) { server, _, ballast in
      #expect(try post(server, "early").status == 201)
      fill(ballast)
      try await eventually("the operator is told") {
        try server.measured(#"richpush_condition{code="disk.full"}"#) == 1
      }
      #expect(try post(server, "late").status == 201)
      let alice = server.client("alice")
      #expect(try await alice.media(1, options: MediaOptions(width: 77)).contentType == "image/png")
      let file = [UInt8](repeating: 7, count: 100_000)
      let upload = try RawConnection(port: server.port).exchange(
        "PUT /api/assets/img/late.png HTTP/1.1\r\n\(RunningServer.credentials("shop"))\r\n"
          + "Content-Length: \(file.count)\r\n", body: file)
      #expect(upload.status == 507, "\(upload.text)")
      try FileManager.default.removeItem(atPath: ballast)
      try await eventually("there is space again") {
        try server.measured(#"richpush_condition{code="disk.full"}"#) == 0
      }
    }
  }
}

extension StandIn {
  /// What the pushes show that the stand-in for Apple has taken.
  fileprivate func delivered() throws -> [String] {
    let pushes = try tell(["do": "delivered"])["pushes"] as? [[String]] ?? []
    return try pushes.map { push in
      let json = try JSONDecoder().decode(JSONValue.self, from: Data(push[2].utf8))
      return json.aps.alert.body.text ?? ""
    }
  }
}
