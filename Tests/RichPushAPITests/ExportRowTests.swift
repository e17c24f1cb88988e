import Foundation
import Testing

@testable import RichPushAPI

/// Rows of CSV.
@Suite struct ExportRowTests {
  private struct Row: ExportRow {
    static let exportColumns = ["a", "b"]
    let text: String
    let number: Int
    var exportCells: [ExportCell] { [.text(text), .number(number)] }
  }

  @Test(arguments: [
    ("plain", "plain"), ("Grüße 🦊", "Grüße 🦊"), ("a,b", #""a,b""#), ("a;b", #""a;b""#),
    (#"say "hi""#, #""say ""hi""""#), ("a\nb", "\"a\nb\""), ("a\r\nb", "\"a\r\nb\""),
    ("=1+1", #""'=1+1""#), (" @x", #""' @x""#), ("-5", #""'-5""#), ("＝1", #""'＝1""#),
    ("it's", #""it's""#), ("a\u{1B}[2Jb", "a[2Jb"), ("\u{9B}x", "x"), ("a\0b", "ab"), ("", ""),
  ])
  func `a text is one cell, which neither a spreadsheet nor a terminal obeys`(
    text: String, cell: String
  ) {
    let line = ExportFormat.csv.line(Row(text: text, number: -7))
    #expect(String(decoding: line, as: UTF8.self) == cell + ",-7\r\n")
  }

  @Test func `each row has a cell for each column`() throws {
    let time = Date(timeIntervalSince1970: 1_700_000_000)
    var receipt = RichNotification.Receipt(
      user: "alice", state: "read", sent: nil, fetched: time, read: time, devices: [])
    receipt.opened = time
    #expect(receipt.exportCells.count == RichNotification.Receipt.exportColumns.count)
    #expect(
      String(decoding: ExportFormat.csv.line(receipt), as: UTF8.self)
        == "alice,read,,,2023-11-14T22:13:20Z,2023-11-14T22:13:20Z,2023-11-14T22:13:20Z,,0\r\n")
    let entry = SentPage.Entry(
      id: 7, message: NotificationMessage("m"), richType: nil, payload: nil, created: time,
      audience: ["news", "username:a"], state: .sent,
      counts: DeliveryCounts(recipients: 1, queued: 2, sent: 3, failed: 4, fetched: 5, read: 6))
    #expect(entry.exportCells.count == SentPage.Entry.exportColumns.count)
    let json = try JSONDecoder().decode(
      JSONValue.self, from: Data(ExportFormat.json.line(entry)))
    #expect(json.counts.fetched == .number(5))
    #expect(ExportFormat.json.head(of: Row.self).isEmpty)
    #expect(ExportFormat.csv.head(of: Row.self) == Array("a,b\r\n".utf8))
  }
}
