import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

/// What administrators see and change by the API.
@Suite(.timeLimit(.minutes(1))) struct AdministrationTests {
  @Test func `users are listed, added, changed and removed, but never the last admin`() async throws
  {
    try await TestServer.test { server in
      func ask(_ method: String, _ path: String, _ body: String = "") async throws -> TestResponse {
        try await server.execute(method, "/api/users" + path, as: "admin", body: body)
      }
      let first = try await ask("GET", "?limit=2")
      #expect(first.objects("users").map { $0["username"] as? String } == ["admin", "device"])
      #expect(first.json["next"] as? String == "device")
      let rest = try await ask("GET", "?after=device")
      #expect(rest.objects("users").map { $0["role"] as? String } == ["publisher"])

      let new = #"{"role":"publisher","password":"a-good-secret"}"#
      #expect(try await ask("PUT", "/dora", new).status == 201)
      #expect(try await server.status("GET", "/api/assets", as: "dora") == 200)
      #expect(try await ask("PUT", "/dora", #"{"role":"device"}"#).status == 204)
      #expect(try await server.status("GET", "/api/assets", as: "dora") == 403, "at once")
      for body in [#"{"role":"publisher","password":"short"}"#, #"{"role":"publisher"}"#] {
        #expect(try await ask("PUT", "/emil", body).status == 422)
      }
      for body in [#"{"role":"king"}"#, #"{"role":"device","x":1}"#, "{}", ""] {
        #expect(try await ask("PUT", "/dora", body).status == 400, "\(body)")
      }
      #expect(try await ask("PUT", "/do%20ra", new).status == 400)

      for (method, body) in [("PUT", #"{"role":"device"}"#), ("DELETE", "")] {
        #expect(try await ask(method, "/admin", body).status == 409, "\(method)")
      }
      #expect(try await ask("PUT", "/dora", #"{"role":"admin"}"#).status == 204)
      #expect(try await ask("DELETE", "/admin").status == 204, "there is another")
      #expect(try await ask("GET", "").status == 401)
    }
  }

  @Test func `a user's devices are listed without push tokens, and its credentials ended`()
    async throws
  {
    try await TestServer.test { server in
      let id = try await server.register("AABB", as: "device")
      let token = try await server.execute("POST", "/api/register/\(id)/token", as: "device")
      let secret = try #require(token.json["token"] as? String)
      let devices = try await server.execute("GET", "/api/users/device/devices", as: "admin")
      #expect(devices.objects("devices").map { $0["registration"] as? String } == [id])
      #expect(!devices.text.contains("AABB"))
      let known = try await server.execute("GET", "/api/notifications", token: secret)
      #expect(known.status == 200)
      #expect(try await server.status("DELETE", "/api/users/device/tokens", as: "admin") == 204)
      let ended = try await server.execute("GET", "/api/notifications", token: secret)
      #expect(ended.status == 401)
      #expect(try await server.status("GET", "/api/notifications", as: "device") == 200)
    }
  }

  @Test func `a user registers as many devices as an admin allows, which are listed by page`()
    async throws
  {
    try await TestServer.test { server in
      func put(_ body: String) async throws -> Int {
        try await server.status("PUT", "/api/users/device", as: "admin", body: body)
      }
      for number in ["0", "-1", "1000001", #""9""#, "1.5"] {
        #expect(try await put(#"{"role":"device","maxDevices":\#(number)}"#) == 400, "\(number)")
      }
      #expect(try await put(#"{"role":"device","maxDevices":3}"#) == 204)
      #expect(try await put(#"{"role":"device"}"#) == 204, "it stays")
      var ids: [String] = []
      for handle in ["AA", "BB", "CC"] {
        ids.append(try await server.register(handle, as: "device"))
      }
      let more = try await server.execute("POST", "/api/register?handle=DD", as: "device")
      #expect(more.status == 409 && more.detail?.contains("3 devices") == true)
      let body = #"{"Platform":"apns","Handle":"DD"}"#
      #expect(try await server.status("PUT", "/api/register/own", as: "device", body: body) == 409)
      #expect(try await server.register("AA", as: "device") == ids[0], "it is renewed")
      let listed = try await server.execute("GET", "/api/users?after=admin&limit=1", as: "admin")
      #expect(listed.objects("users").map { $0["maxDevices"] as? Int } == [3])

      var (pages, next): ([[String?]], String?) = ([], "")
      while let after = next, pages.count < 4 {
        let page = try await server.execute(
          "GET", "/api/users/device/devices?limit=2&after=\(after)", as: "admin")
        pages.append(page.objects("devices").map { $0["registration"] as? String })
        next = page.json["next"] as? String
      }
      let sorted = ids.sorted()
      #expect(pages == [Array(sorted[..<2]), [sorted[2]]])
      for query in ["limit=0", "limit=501", "limit=x", "page=2"] {
        let path = "/api/users/device/devices?" + query
        #expect(try await server.status("GET", path, as: "admin") == 400, "\(query)")
      }
    }
  }

  @Test func `who guesses is listed, the network and the name`() async throws {
    try await TestServer.test { server in
      for attempt in 0..<10 {
        let field = TestServer.authorization("publisher", password: "guess\(attempt)")
        _ = try await server.execute(
          "GET", "/api/assets", fields: ["Authorization": field], peer: "198.51.100.7")
      }
      let found = try await server.execute("GET", "/api/failed-logins", as: "admin")
      let refused = found.objects("refused")
      #expect(refused.compactMap { $0["address"] as? String } == ["198.51.100.7"])
      // The name there, and from every address that is new for it.
      #expect(refused.compactMap { $0["username"] as? String } == ["publisher", "publisher"])
    }
  }

  @Test func `pushes of a lane are listed by page, replayed and cancelled`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      var new = NotificationInsert(message: "m", richType: "note", payload: "p")
      let user = try await server.id(of: "device")
      let devices = [
        try await server.register("AABB", as: "device"),
        try await server.register("CCDD", as: "device"),
      ]
      (new.sender, new.recipients) = (user, [user])
      new.pushes = ["apns", "other"].map { lane in
        PushInsert(lane: lane, target: .devices(RegistrationIDs(devices)), kind: "alert")
      }
      _ = try await server.store.notifications.create(new)
      func list(_ query: String) async throws -> (jobs: [[String: Any]], next: Any?) {
        let found = try await server.execute("GET", "/api/outbox" + query, as: "admin")
        return (found.objects("jobs"), found.json["next"])
      }
      func numbers(_ query: String) async throws -> [Int] {
        try await list(query).jobs.compactMap { $0["id"] as? Int }
      }
      let all = try await numbers("")
      #expect(all.count == 4 && all == all.sorted(by: >))
      let first = try await list("?limit=3&state=queued")
      #expect(first.jobs.count == 3)
      let next = try #require(first.next as? Int)
      #expect(try await numbers("?limit=3&state=queued&after=\(next)") == [all[3]])
      #expect(try await numbers("?lane=apns").count == 2)
      #expect(try await numbers("?lane=apns&state=failed").isEmpty)
      #expect(try await server.status("GET", "/api/outbox?state=dead", as: "admin") == 400)

      let jobs = try await server.store.outbox.settleAndLease(
        [], lane: SendingLane("apns"), limit: 2, until: Date() + 60
      ).jobs
      _ = try await server.store.outbox.settleAndLease(
        jobs.map { ($0.id, .rejected(reason: "BadTopic")) }, lane: SendingLane("apns"), limit: 0,
        until: Date())
      let failed = try await list("?state=failed").jobs
      #expect(failed.map { $0["reason"] as? String } == ["BadTopic", "BadTopic"])
      let one = try #require(failed.first?["id"] as? Int)
      func replay(_ path: String) async throws -> TestResponse {
        try await server.execute("POST", "/api/outbox/\(path)", as: "admin")
      }
      #expect(try await replay("\(one)/replay").json["replayed"] as? Int == 1)
      #expect(try await replay("\(one)/replay").status == 404)
      #expect(try await replay("replay?lane=other").json["replayed"] as? Int == 0)
      #expect(try await replay("replay?lane=apns").json["replayed"] as? Int == 1)
      #expect(try await server.status("DELETE", "/api/outbox/\(one)", as: "admin") == 204)
      #expect(try await server.status("DELETE", "/api/outbox/\(one)", as: "admin") == 404)

      let lanes = try await server.execute("GET", "/api/lanes", as: "admin").objects("lanes")
      #expect(lanes.map { $0["name"] as? String } == ["apns", "other"])
      #expect(lanes.map { $0["queued"] as? Int } == [1, 2])
      #expect(lanes.allSatisfy { $0["state"] as? String == "off" }, "no service is configured")
      #expect(lanes.allSatisfy { $0["oldestWaiting"] is String })
      let metrics = try await server.execute("GET", "/metrics").text
      for line in [
        #"richpush_push_waiting{lane="apns"} 1"#, #"richpush_push_waiting{lane="other"} 2"#,
      ] { #expect(metrics.contains(line + "\n"), "\(line) in \(metrics)") }
      let age = metrics.firstMatch(of: #/richpush_push_oldest_seconds{lane="other"} ([0-9.e-]+)/#)
      let seconds = try #require(age.flatMap { Double($0.1) })
      #expect(seconds > 0 && seconds < 60)
    }
  }

  @Test func `the storage is told in bytes`() async throws {
    try await TestServer.test { server in
      let found = try await server.execute("GET", "/api/storage", as: "admin").json
      #expect(found["database"] as? Int ?? 0 > 4096 && found["free"] as? Int ?? 0 > 0)
    }
  }
}
