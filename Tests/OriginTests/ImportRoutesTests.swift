import Foundation
import HTTP
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Origin

/// Attributes of people from CSV files, by requests.
@Suite(.timeLimit(.minutes(2))) struct ImportRoutesTests {
  private static let target = "/api/attributes/import"

  private static func post(
    _ server: TestServer, _ file: String, query: String = "", fields: Fields = Fields()
  ) async throws -> TestResponse {
    try await server.execute("POST", target + query, as: "publisher", fields: fields, body: file)
  }

  private static func report(_ answer: TestResponse) throws -> ImportReport {
    try #require(answer.status == 200, "\(answer.detail ?? "")")
    return try JSONCoding.decode(from: Data(answer.bytes))
  }

  @Test func `lines that are wrong are reported, and the others imported`() async throws {
    try await TestServer.test { server in
      let file = "username;city\r\ndevice;Bern\r\nnobody;Rom\r\nadmin;\r\ndevice;Rom\r\n"
      // First the same without a change.
      for (query, city) in [("?dry-run", nil), ("", "Bern")] {
        let report = try Self.report(try await Self.post(server, file, query: query))
        #expect(report.changed == 1 && report.unchanged == 1 && report.refused == 2)
        #expect(report.lines.map(\.line) == [3, 5] && report.more == 0)
        #expect(report.lines.map(\.username) == ["nobody", "device"])
        #expect(
          report.lines.map(\.reason) == [
            "There is no user “nobody”: add the user first.",
            "“device” is in line 2, too: remove one of them.",
          ])
        let device = try await server.id(of: "device")
        #expect(try await server.store.accounts.attributes(of: device)["city"] == city)
      }
      // Again, as after an interruption.
      let again = try Self.report(try await Self.post(server, file))
      #expect(again.changed == 0 && again.unchanged == 2 && again.refused == 2)
      // All attributes are replaced.
      _ = try await Self.post(server, "username,name\ndevice,Ann")
      let device = try await server.id(of: "device")
      #expect(try await server.store.accounts.attributes(of: device) == ["name": "Ann"])
    }
  }

  @Test func `files that cannot be imported, and who may not import them`() async throws {
    try await TestServer.test { server in
      for (file, status) in [
        ("", 422), ("name\nAnn", 422),
        ("username\n" + String(repeating: "\n", count: AttributeFile.mostLines), 413),
        (String(repeating: "x", count: ImportReport.largestFile + 1), 413),
      ] {
        #expect(try await Self.post(server, file).status == status)
      }
      #expect(try await Self.post(server, "username\n", query: "?dry").status == 400)
      let mine = try await server.execute(
        "POST", Self.target, as: "device", body: "username\ndevice\n")
      #expect(mine.status == 403)
    }
  }

  @Test func `thousands of lines are imported, and all are in the table`() async throws {
    try await TestServer.test { server in
      let names = (0..<1200).map { "user-\($0)" }
      _ = try await server.store.accounts.userIDs(
        of: Set(names), allowingPasswordless: true, addingPasswordless: true)
      let others = (0..<1100).map { "other-\($0)" }
      let file = "username,city\n" + (names + others).map { "\($0),Bern\n" }.joined()
      let report = try Self.report(try await Self.post(server, file, query: "?dry-run"))
      #expect(report.changed == 1200 && report.refused == 1100)
      #expect(report.lines.map(\.username) == Array(others.prefix(1000)) && report.more == 100)
      let answer = try await Self.post(server, file, fields: ["Accept": "text/csv"])
      #expect(answer.fields["Content-Disposition"]?.contains("import.csv") == true)
      let stream = try #require(answer.stream)
      var bytes: [UInt8] = []
      while let piece = try await stream.nextBytes() { bytes += piece }
      stream.close()
      let rows = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
      #expect(rows.count == 1 + 2300 + 1 && rows[0] == "line,username,result,reason")
      #expect(rows[1] == "2,user-0,changed," && rows[1200] == "1201,user-1199,changed,")
      #expect(rows[2300].hasPrefix("2301,other-1099,refused,There is no user"))
      let last = try await server.store.accounts.attributes(named: ["user-1199", "other-1"])
      #expect(last == ["user-1199": ["city": "Bern"]])
    }
  }

  @Test func `an import that was interrupted is completed by the same file`() async throws {
    try await TestServer.test { server in
      let names = (0..<600).map { "user-\($0)" }
      _ = try await server.store.accounts.userIDs(
        of: Set(names), allowingPasswordless: true, addingPasswordless: true)
      let file = "username,city\n" + names.map { "\($0),Bern\n" }.joined()
      var importer = AttributeImporter(
        try AttributeFile(Array(file.utf8)), into: server.store.accounts, isDryRun: false)
      // The process ends after the first transaction.
      #expect(try await importer.next()?.count == 500)
      let report = try Self.report(try await Self.post(server, file))
      #expect(report.changed == 100 && report.unchanged == 500)
    }
  }
}
