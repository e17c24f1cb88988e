import Foundation
import PageParts
import Primitives
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// What administrators are told of the server, and what needs their attention.
@Suite(.timeLimit(.minutes(1))) struct StatusRoutesTests {
  private func status(_ server: TestServer) async throws -> StatusReport {
    let answer = try await server.execute("GET", "/api/status", as: "admin")
    return try JSONCoding.decode(StatusReport.self, from: answer.bytes)
  }

  @Test func `the server, its users, queues and disks are told, and that all is well`() async throws
  {
    try await TestServer.test { server in
      let report = try await status(server)
      #expect(report.attention == [] && report.certificates == [])
      #expect(report.server.database == "SQLite" && report.server.hasLead)
      #expect(report.server.schema > 19 && !report.server.node.isEmpty)
      let records = try #require(report.records)
      #expect(records.users == .init(device: 1, publisher: 1, admin: 1))
      #expect(records.devices == [] && records.scheduled == 0 && records.accessTokens == [])
      #expect(records.databaseSize > 4096)
      #expect(report.disks.map(\.folders) == [["data", "assets", "blobs", "renditions"]])
      #expect(report.disks.allSatisfy { $0.free > 0 && $0.free <= $0.total })
      #expect(report.caches.map(\.name) == ["renditions"])
    }
  }

  @Test func `what needs attention is told in sentences, as soon as the report is made again`()
    async throws
  {
    let clock = ManualClock()
    try await TestServer.test(clock: clock) { server in
      #expect(try await status(server).attention == [])
      let phone = #"{"Platform":"fcm","Handle":"AABB"}"#
      _ = try await server.execute("PUT", "/api/register/own", as: "device", body: phone)
      var new = NotificationInsert(message: "m", richType: "note", payload: "p")
      let user = try await server.id(of: "device")
      (new.sender, new.recipients) = (user, [user])
      new.pushes = [
        PushInsert(lane: "other", target: .devices(RegistrationIDs(["own"])), kind: "alert")
      ]
      _ = try await server.store.notifications.create(new)
      // One that is new, however short its life is.
      var scope = AccessTokenScope()
      scope.expires = Date() + 9 * 86_400
      _ = try await server.store.accessTokens.addAccessToken(
        Digest(of: "token"), "ci", scope, of: try await server.id(of: "publisher"))
      #expect(try await status(server).attention == [], "all who ask share a report")
      clock.advance(by: StatusReporter.validity)
      let report = try await status(server)
      #expect(report.attention.map(\.code) == ["lane.off", "devices.unreached"])
      #expect(report.attention.map(\.name) == ["other", "fcm"])
      #expect(report.attention.map(\.count) == [1, 1])
      let texts = report.attention.map(\.text).joined(separator: "\n")
      #expect(texts.contains("1 push waits for other, which is not a push service"), "\(texts)")
      #expect(report.records?.accessTokens == [])
      #expect(report.records?.devices == [.init(platform: "fcm", service: nil, count: 1)])

      let lead = server.origin.housekeeping.store.observers.lead
      lead.record(isAnyNodes: false, at: .now)
      lead.record(isAnyNodes: false, at: .now + .seconds(60))
      clock.advance(by: StatusReporter.validity)
      let first = try #require(try await status(server).attention.first)
      #expect(first.code == "lead.vacant" && first.level == .problem, "problems come first")
    }
  }

  @Test func `the last errors and warnings are kept, a line each, and the oldest forgotten`()
    async throws
  {
    let clock = ManualClock()
    try await TestServer.test(clock: clock) { server in
      let log = server.origin.housekeeping.log
      for number in 0..<60 { log(.warning, "push", "number \(number)\u{1B}[31m\nforged") }
      log(.notice, "push", "nothing to worry about")
      log(.error, "store", String(repeating: "x", count: 5000))
      let errors = try await status(server).errors
      #expect(errors.count == 50 && errors[0].level == "error" && errors[0].text.count == 1000)
      #expect(errors[1].text.hasPrefix("number 59") && errors[49].text.hasPrefix("number 11"))
      #expect(errors.allSatisfy { !$0.text.contains("\n") && !$0.text.contains("\u{1B}") })
      #expect(server.log.contain("nothing to worry about"), "all of it is in the log itself")
      for _ in 0..<60 { log(.error, "push", "the same") }
      clock.advance(by: StatusReporter.validity)
      let later = try await status(server).errors
      #expect(later[0].text == "the same" && later[0].count == 60)
      #expect(later.count == 50 && later[1].text == errors[0].text, "it takes no other's place")
    }
  }

  @Test
  func `a disk that is nearly full, slow pushes and a paused service are told, most urgent first`()
  {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    var (paused, slow, chosen) = (
      LaneReport.Lane(name: "apns", state: "paused", queued: 3, sent: 0, failed: 0, retried: 0),
      LaneReport.Lane(name: "hub", state: "running", queued: 2, sent: 0, failed: 0, retried: 0),
      LaneReport.Lane(
        name: "webpush:https://push.example", state: "paused", queued: 1, sent: 0, failed: 0,
        retried: 0)
    )
    (paused.reason, paused.until) = ("403 InvalidProviderToken.", now + 60)
    slow.oldestWaiting = now - 901
    chosen.reason = "500"
    let records = StatusReport.Records(
      users: .init(device: 0, publisher: 0, admin: 1),
      devices: [.init(platform: "wns", service: nil, count: 2)], lanes: [slow, chosen, paused],
      scheduled: 0, awaitingApproval: 0,
      accessTokens: [
        .init(name: "old", user: "shop", expires: now - 86_400, isWebhook: false),
        .init(name: "alerts", user: "shop", expires: now + 172_800, isWebhook: true),
      ], databaseSize: 1)
    let facts = StatusFacts(
      now: now, readiness: [.init(cause: .store, sentence: "The store takes no changes: full.")],
      certificates: [], records: records, gaps: ["wns": "Nothing sends to wns."], plugins: [],
      conditions: [
        .init(
          code: .diskLow, since: now, sentence: "the disk of the data folder will be full soon")
      ], vacantLeads: [])
    #expect(
      facts.attention.map { "\($0.level) \($0.code): \($0.text)" } == [
        "problem store: The store takes no changes: full.",
        "problem lane.paused: Pushes to apns are paused until 2027-01-15T08:01:00Z: 403 "
          + "InvalidProviderToken. When that is mended, richpush outbox resume --lane apns, or wait.",
        "warning disk.low: The disk of the data folder will be full soon.",
        "warning lane.paused: Pushes to webpush:https://push.example are paused: 500. "
          + "When that is mended, richpush outbox resume --lane webpush:https://push.example, or wait.",
        "warning lane.slow: 2 pushes wait for hub, the oldest since 2027-01-15T07:44:59Z.",
        "warning devices.unreached: 2 devices get no pushes. Nothing sends to wns.",
        "warning token: The access token “old” of shop ended 1 day ago: give its program a new one, "
          + "richpush token add, and remove this one, richpush token remove old --user shop.",
        "warning webhook: The webhook “alerts” of shop ends in 2 days: give its program a new one, "
          + "richpush webhook add, and remove this one, richpush webhook remove alerts --user shop.",
      ])
    let members = facts.attention.map { [$0.name, $0.user, $0.reason] }
    #expect(members[1] == ["apns", nil, "403 InvalidProviderToken."])
    #expect(members[6] == ["old", "shop", nil] && facts.attention[6].until == now - 86_400)
    #expect(facts.attention[4].since == now - 901 && facts.attention[4].count == 2)
  }

  @Test(arguments: ["en", "de"])
  func `the console and the API's description have each code`(language: String) throws {
    let codes = Set(
      Condition.Code.allCases.map(\.rawValue) + StatusFacts.Code.allCases.map(\.rawValue))
    let table = try #require(PagePartFiles.all.first { $0.key == "attention-\(language).js" })
    let text = String(decoding: table.value, as: UTF8.self)
    let said = text.matches(of: /\n  "?([a-z.-]+)"?: \(/).map { String($0.1) }
    #expect(Set(said) == codes)
    let description = try String(
      contentsOf: URL(filePath: #filePath).appending(
        path: "../../../Sources/Origin/openapi.json"
      ).standardized, encoding: .utf8)
    #expect(codes.allSatisfy { description.contains("`\($0)`") })
  }
}
