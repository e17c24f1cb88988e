import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// The way of a push while the data folder's file system has no room.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled(if: getuid() == 0, "a small file system is mounted, which takes root"))
struct FullDiskSystemTests {
  /// Starts a server whose data folder is a small file system; `fill` leaves no byte free on it.
  private func lend(
    to body: (RunningServer, PushServices, _ fill: String) async throws -> Void
  ) async throws {
    let services = try PushServices()
    var mounted = ""
    defer { if !mounted.isEmpty { umount2(mounted, Int32(MNT_DETACH)) } }
    try await RunningServer.lend(
      flags: ["--demo", "--push", "apns"], environment: services.environment
    ) { scratch in
      let data = try scratch.makeFolder("var").path
      let mount = try await Child.run(
        "/bin/mount", ["-t", "tmpfs", "-o", "size=30m", "tmpfs", data])
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

  @Test func `refuses what cannot be stored, loses nothing that was, and goes on with room`()
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
          acknowledged.append("late \(number)")  // it found room
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
      try await eventually("there is room again") { try post(server, "last").status == 201 }
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
      #expect(server.log.contains("publishing is disturbed: The store takes no changes"))
      try FileManager.default.removeItem(atPath: ballast)
      try await eventually("there is room again") { try ready("?for=publishing").status == 200 }
      #expect(server.log.contains("publishing is possible again"))
      #expect(!server.log.contains("devices cannot be served"))
    }
  }

  @Test func `a receipt that cannot be written is written later, and its push is not sent again`()
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
      try await eventually("it was taken") { try services.apns.delivered().count >= 1 }
      try await eventually("the receipt is refused") {
        server.log.contains("the outbox is unavailable")
      }
      try FileManager.default.removeItem(atPath: ballast)
      try await eventually("the receipt is there") {
        try server.deliveries(of: 0) == ["apns sent"]
      }
      #expect(try services.apns.delivered().count == 1)
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
