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
import Waiting

@testable import Origin

/// What became of what was sent: of one notification over time, and of all by week.
@Suite(.timeLimit(.minutes(2))) struct StatisticsRoutesTests {
  private static let path = "/api/notifications/0/statistics"

  private static func statistics(_ server: TestServer) async throws -> NotificationStatistics {
    let answer = try await server.execute("GET", path, as: "publisher")
    try #require(answer.status == 200, "\(answer.detail ?? "")")
    return try JSONCoding.decode(NotificationStatistics.self, from: answer.bytes)
  }

  @Test func `chart, export, receipts, counts and weeks have the same numbers`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      let names = (0..<9).map { "reader\($0)" }
      for name in names {
        try await server.addUser(name, .device)
        _ = try await server.register("AA" + name.suffix(1) + "0", as: name)
      }
      try await server.publish(to: names)
      for name in names.prefix(6) {
        _ = try await server.execute("GET", "/api/notifications/0", as: name)
      }
      for name in names.prefix(3) {
        #expect(try await server.status("PUT", "/api/notifications/0/read", as: name) == 204)
      }
      for name in names.suffix(1) {
        let id = try await server.id(of: name)
        for event in [ReportedEvent.displayed, .opened, .dismissed] {
          #expect(
            try await server.store.notifications.record(event, of: 0, user: id, device: nil))
        }
      }
      try await eventually("all is counted") {
        let users = try await Self.statistics(server).users
        return users.fetched == 6 && users.read == 3 && users.dismissed == 1
      }
      let found = try await Self.statistics(server)
      #expect(found.users.recipients == 9 && found.hasReceipts)
      #expect(
        found.users.recipients == found.users.waiting + found.users.unreachable + found.users.sent)

      let table = try await server.execute(
        "GET", "/api/notifications/0/receipts", as: "publisher", fields: ["Accept": "text/csv"])
      let lines = try await Self.lines(table)
      let columns = lines[0].components(separatedBy: ",")
      let receipts = try JSONCoding.decode(
        ReceiptPage.self,
        from: try await server.execute("GET", "/api/notifications/0/receipts", as: "publisher")
          .bytes
      ).receipts
      let details = try await server.execute(
        "GET", "/api/notifications/0/details", as: "publisher")
      let counts = try #require(details.json["counts"] as? [String: Int])
      let week = try #require(
        try await server.execute("GET", "/api/statistics?weeks=1", as: "publisher")
          .objects("weeks").first)
      let sent = try await Self.lines(
        server.execute(
          "GET", "/api/notifications?sent", as: "publisher", fields: ["Accept": "text/csv"]))
      let listed = Dictionary(
        uniqueKeysWithValues: zip(
          sent[0].components(separatedBy: ","), sent[1].components(separatedBy: ",")))
      for (step, users, times, course) in [
        ("displayed", found.users.displayed, receipts.map(\.displayed), found.course.displayed),
        ("fetched", found.users.fetched, receipts.map(\.fetched), found.course.fetched),
        ("opened", found.users.opened, receipts.map(\.opened), found.course.opened),
        ("read", found.users.read, receipts.map(\.read), found.course.read),
        ("dismissed", found.users.dismissed, receipts.map(\.dismissed), found.course.dismissed),
      ] {
        let column = try #require(columns.firstIndex(of: step))
        let exported = lines.dropFirst().filter {
          !$0.components(separatedBy: ",")[column].isEmpty
        }
        #expect(users > 0 && users <= found.users.sent, "\(step)")
        #expect(exported.count == users, "\(step)")
        #expect(times.compactMap(\.self).count == users, "\(step)")
        #expect(course.reduce(0, +) == users, "\(step)")
        #expect(counts[step] == users && week[step] as? Int == users, "\(step)")
        #expect(listed[step] == "\(users)", "\(step)")
        #expect(found.platforms.reduce(0) { $0 + Self.number(step, $1.users) } == users)
      }
      #expect(found.course.sent.reduce(0, +) == found.users.sent)
      #expect(lines.count - 1 == found.users.recipients && receipts.count == lines.count - 1)
      #expect(week["recipients"] as? Int == 9 && week["notifications"] as? Int == 1)
    }
  }

  private static func number(_ step: String, _ users: Funnel) -> Int {
    switch step {
    case "displayed": users.displayed
    case "fetched": users.fetched
    case "opened": users.opened
    case "read": users.read
    default: users.dismissed
    }
  }

  /// The lines of a table that is sent.
  private static func lines(_ answer: TestResponse) async throws -> [String] {
    let stream = try #require(answer.stream, "\(answer.detail ?? "")")
    var bytes: [UInt8] = []
    while let piece = try await stream.nextBytes() { bytes += piece }
    stream.close()
    return String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n").dropLast()
  }

  @Test func `with a segment, only its people count`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      let names = (0..<5).map { "reader\($0)" }
      for name in names { try await server.addUser(name, .device) }
      try await server.publish(to: names)
      for name in names.prefix(3) {
        _ = try await server.execute("GET", "/api/notifications/0", as: name)
      }
      try await eventually("all is counted") {
        try await Self.statistics(server).users.fetched == 3
      }
      let segment = #"{"to": ["username:reader2", "username:reader3", "username:publisher"]}"#
      #expect(
        try await server.status("PUT", "/api/segments/few", as: "publisher", body: segment) == 201)
      let answer = try await server.execute("GET", Self.path + "?segment=few", as: "publisher")
      let found = try JSONCoding.decode(NotificationStatistics.self, from: answer.bytes)
      #expect(found.users.recipients == 2 && found.users.fetched == 1)
      #expect(found.course.fetched.reduce(0, +) == 1 && found.hasReceipts)
      #expect(try await Self.statistics(server).users.recipients == 5)
      for name in ["none", "a%2Fb", ""] {
        let path = Self.path + "?segment=" + name
        #expect(try await server.status("GET", path, as: "publisher") == 404, "\(name)")
      }
    }
  }

  @Test func `only the sender and admins see it`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.addUser("other", .publisher)
      try await server.publish()
      for (user, status) in [("publisher", 200), ("admin", 200), ("other", 404), ("device", 404)] {
        #expect(try await server.status("GET", Self.path, as: user) == status, "\(user)")
      }
      #expect(try await server.status("GET", Self.path + "?x", as: "publisher") == 400)
      let own = try await server.execute("GET", "/api/statistics", as: "other")
      #expect(own.objects("weeks").allSatisfy { $0["notifications"] as? Int == 0 })
      let all = try await server.execute("GET", "/api/statistics?sender=*", as: "admin")
      #expect(all.objects("weeks").last?["notifications"] as? Int == 1)
      #expect(try await server.status("GET", "/api/statistics?sender=*", as: "other") == 403)
    }
  }

  @Test func `once the receipts are removed, the totals are left`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.addUser("reader", .device)
      try await server.publish(to: ["device", "reader"])
      _ = try await server.execute("GET", "/api/notifications/0", as: "device")
      try await eventually("it is fetched") {
        try await Self.statistics(server).users.fetched == 1
      }
      #expect(try await server.status("DELETE", "/api/notifications/0", as: "publisher") == 204)
      let withdrawn = try await Self.statistics(server)
      #expect(withdrawn.state == .withdrawn && withdrawn.hasReceipts)
      #expect(withdrawn.users.waiting == 0 && withdrawn.users.fetched == 1)
      _ = try await server.store.collect(Retention())
      // Another node, or the same one later, counts anew.
      let cache = StatisticsCache(store: server.store, unserved: [], clock: ContinuousClock())
      let sent = try #require(try await server.store.sentNotification(0))
      #expect(try await cache.statistics(of: sent).statistics.funnel.recipients == 0)
      let left = NotificationStatistics(
        try await cache.statistics(of: sent).statistics, of: sent, at: Date())
      #expect(!left.hasReceipts && left.users.recipients == 2)
      #expect(left.users.fetched == 1 && left.users.sent == 1 && left.users.unreachable == 1)
      #expect(left.unreachable.map(\.cause) == ["ended"])
    }
  }

  @Test func `weeks begin on Monday at midnight in their zone, also when the clocks change`()
    async throws
  {
    try await TestServer.test { server in
      func starts(_ query: String) async throws -> [String] {
        let answer = try await server.execute("GET", "/api/statistics?" + query, as: "publisher")
        #expect(answer.status == 200, "\(answer.detail ?? "")")
        return answer.objects("weeks").compactMap { $0["start"] as? String }
      }
      // Clocks were put back on 25 October 2026.
      #expect(
        try await starts("weeks=3&from=2026-10-18&zone=Europe/Zurich")
          == ["2026-10-11T22:00:00Z", "2026-10-18T22:00:00Z", "2026-10-25T23:00:00Z"])
      #expect(try await starts("weeks=1&from=1969-12-29") == ["1969-12-29T00:00:00Z"])
      #expect(try await starts("weeks=1&from=2026-11-29") == ["2026-11-23T00:00:00Z"])
      #expect(try await starts("").count == 12)
      for day in ["9999-12-31", "0001-01-01"] {
        let found = try await starts("weeks=104&from=\(day)")
        #expect(found.count == 104 && found.allSatisfy { $0.count == 20 }, "\(found)")
      }
      for (wrong, status) in [
        ("weeks=0", 400), ("weeks=105", 400), ("from=2026-02-30", 400), ("from=2026-2-3", 400),
        ("from=", 400), ("zone=Nowhere/Land", 422), ("zone=", 422), ("sender=me", 400),
        ("by=day", 400),
      ] {
        let found = try await server.status("GET", "/api/statistics?" + wrong, as: "publisher")
        #expect(found == status, "\(wrong)")
      }
    }
  }

  @Test func `the weeks are a table for who asks for one`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      let lines = try await Self.lines(
        server.execute(
          "GET", "/api/statistics?weeks=2", as: "publisher", fields: ["Accept": "text/csv"]))
      #expect(lines[0] == WeekStatistics.Week.exportColumns.joined(separator: ","))
      #expect(lines.count == 3 && lines[2].hasSuffix(",1,0,1,0,0,0,0,0,0,0,0,0"))
    }
  }
}
