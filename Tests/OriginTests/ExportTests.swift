import Foundation
import HTTP
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// Tables of what was sent and who got it.
@Suite(.timeLimit(.minutes(2))) struct ExportTests {
  /// All of a table that is sent.
  private static func table(
    _ server: TestServer, _ target: String, as user: String = "publisher",
    _ type: String = "text/csv"
  ) async throws -> [String] {
    let answer = try await server.execute("GET", target, as: user, fields: ["Accept": type])
    #expect(answer.status == 200, "\(answer.detail ?? "")")
    let stream = try #require(answer.stream)
    var bytes: [UInt8] = []
    while let piece = try await stream.nextBytes() { bytes += piece }
    stream.close()
    let end = type == "text/csv" ? "\r\n" : "\n"
    let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: end)
    #expect(lines.last?.isEmpty == true)
    return lines.dropLast()
  }

  private static func send(_ server: TestServer, _ text: String) async throws {
    let body = #"{"message":"\#(text)","to":["username:device"]}"#
    let answer = try await server.execute(
      "POST", "/api/notifications", as: "publisher", body: body)
    try #require(answer.status == 201, "\(answer.detail ?? "")")
  }

  @Test func `everything that was sent is one table, newest first`() async throws {
    try await TestServer.test { server in
      let count = 120
      for number in 0..<count { try await Self.send(server, "Text \(number)") }
      let rows = try await Self.table(server, "/api/notifications?sent")
      #expect(rows.first == SentPage.Entry.exportColumns.joined(separator: ","))
      let texts = rows.dropFirst().map {
        $0.split(separator: ",", omittingEmptySubsequences: false)[8]
      }
      #expect(texts == (0..<count).reversed().map { "Text \($0)" })
      let found = try await Self.table(server, "/api/notifications?sent&search=text+7")
      #expect(found.count == 1 + 21, "\(found)")
      let lines = try await Self.table(server, "/api/notifications?sent", "application/x-ndjson")
      let pages = try await server.execute(
        "GET", "/api/notifications?sent&limit=500", as: "publisher")
      #expect(lines.count == count && pages.objects("notifications").count == count)
      let first = try #require(JSONValue(lines[0].utf8))
      #expect(first.message.text == "Text 119" && first.counts.recipients == .number(1))
      // Of others, and for those who sent nothing, there is nothing.
      #expect(try await Self.table(server, "/api/notifications?sent", as: "device").count == 1)
      let all = try await Self.table(server, "/api/notifications?sent&sender=*", as: "admin")
      #expect(all.count == 1 + count)
      let refused = try await server.execute(
        "GET", "/api/notifications?sent&sender=*", as: "publisher", fields: ["Accept": "text/csv"])
      #expect(refused.status == 403)
    }
  }

  @Test func `all receipts of a notification are one table`() async throws {
    try await TestServer.test { server in
      let names = (0..<1100).map { "user-\($0)" }
      let users = try await server.store.accounts.userIDs(
        of: Set(names), allowingPasswordless: true, addingPasswordless: true)
      var new = NotificationInsert(message: "m", richType: "", payload: "")
      new.recipients = Array(users.values)
      new.sender = try await server.store.accounts.user(named: "publisher")?.id
      let id = try await server.store.notifications.create(new).notification.id
      // More than a thousand recipients are written after the notification.
      try await eventually("all recipients are written") {
        try await Self.table(server, "/api/notifications/\(id)/receipts").count > names.count
      }
      let rows = try await Self.table(server, "/api/notifications/\(id)/receipts")
      #expect(Set(rows.dropFirst().map { $0.prefix { $0 != "," } }) == Set(names.map { $0[...] }))
      #expect(rows.count == 1 + names.count)
      let none = try await Self.table(server, "/api/notifications/\(id)/receipts?state=read")
      #expect(none == [RichNotification.Receipt.exportColumns.joined(separator: ",")])
      let foreign = try await server.execute(
        "GET", "/api/notifications/\(id)/receipts", as: "device", fields: ["Accept": "text/csv"])
      #expect(foreign.status == 404)
    }
  }

  @Test func `a table of somebody who was removed breaks off`() async throws {
    try await TestServer.test { server in
      try await Self.send(server, "Text")
      let answer = try await server.execute(
        "GET", "/api/notifications?sent", as: "publisher", fields: ["Accept": "text/csv"])
      let stream = try #require(answer.stream)
      _ = try await server.store.accounts.removeUser("publisher")
      var bytes: [UInt8] = []
      while let piece = try await stream.nextBytes() { bytes += piece }
      #expect(!String(decoding: bytes, as: UTF8.self).contains("Text"))
      #expect(server.log.contain("sent ended early"))
    }
  }
}
