#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A row of a table that is exported.
package protocol ExportRow: Encodable, Sendable {
  /// The names of the columns, which are never changed, only added to at the end.
  static var exportColumns: [String] { get }
  /// What is in the columns.
  var exportCells: [ExportCell] { get }
}

/// What is in one column of a row.
package enum ExportCell: Sendable, Equatable {
  case number(Int)
  case text(String)
  case time(Date)
  case none

  package init(_ text: String?) { self = text.map { .text($0) } ?? .none }
  package init(_ time: Date?) { self = time.map { .time($0) } ?? .none }
}

/// How rows are written.
package enum ExportFormat: String, Sendable, CaseIterable {
  /// Comma-separated values in UTF-8 (RFC 4180).
  case csv = "text/csv"
  /// A line of JSON for each row.
  case json = "application/x-ndjson"

  /// What is written before the rows.
  package func head<Row: ExportRow>(of row: Row.Type) -> [UInt8] {
    self == .csv ? CSV.line(row.exportColumns) : []
  }

  /// A row.
  package func line(_ row: some ExportRow) -> [UInt8] {
    self == .csv ? CSV.line(row.exportCells.map(\.text)) : JSONCoding.encode(row) + [0x0A]
  }
}

private enum CSV {
  static func line(_ cells: [String]) -> [UInt8] {
    Array((cells.map(quoted).joined(separator: ",") + "\r\n").utf8)
  }

  private static func quoted(_ text: String) -> String {
    let isPlain = text.unicodeScalars.allSatisfy { !"\",\r\n;\t'".unicodeScalars.contains($0) }
    return isPlain ? text : "\"" + text.replacing("\"", with: "\"\"") + "\""
  }
}

extension ExportCell {
  /// As it is in a table of CSV.
  fileprivate var text: String {
    switch self {
    case .number(let number): return String(number)
    case .time(let time): return time.formatted(.iso8601)
    case .none: return ""
    case .text(let text):
      // Nothing that a terminal would obey.
      let plain = String(
        String.UnicodeScalarView(
          text.unicodeScalars.filter {
            $0.properties.generalCategory != .control || "\r\n\t".unicodeScalars.contains($0)
          }))
      // What a spreadsheet would calculate becomes a text by an apostrophe.
      let first = plain.unicodeScalars.first { !$0.properties.isWhitespace }
      let isFormula = first.map { "=+-@＝＋－＠".unicodeScalars.contains($0) } ?? false
      return isFormula || plain.hasPrefix("\t") || plain.hasPrefix("\r") ? "'" + plain : plain
    }
  }
}

// MARK: - What is exported

extension SentPage.Entry: ExportRow {
  package static let exportColumns = [
    "id", "state", "created", "notBefore", "expires", "sender", "to", "title", "message",
    "richType", "payload", "recipients", "queued", "sent", "failed", "displayed", "fetched",
    "opened", "read", "dismissed", "actions", "replies",
  ]

  package var exportCells: [ExportCell] {
    [
      .number(id), .text(state.rawValue), .time(created), ExportCell(notBefore),
      ExportCell(expires), ExportCell(sender), .text(audience.joined(separator: " ")),
      ExportCell(message.title), .text(message.text), ExportCell(richType), ExportCell(payload),
    ]
      + [
        counts.recipients, counts.queued, counts.sent, counts.failed, counts.displayed,
        counts.fetched, counts.opened, counts.read, counts.dismissed, counts.actions,
        counts.replies,
      ].map(ExportCell.number)
  }
}

extension RichNotification.Receipt: ExportRow {
  package static let exportColumns = [
    "user", "state", "sent", "displayed", "fetched", "opened", "read", "dismissed", "devices",
  ]

  package var exportCells: [ExportCell] {
    [
      ExportCell(user), .text(state), ExportCell(sent), ExportCell(displayed),
      ExportCell(fetched), ExportCell(opened), ExportCell(read), ExportCell(dismissed),
      .number(devices.count),
    ]
  }
}

extension WeekStatistics.Week: ExportRow {
  package static let exportColumns = [
    "start", "notifications", "withdrawn", "recipients", "sent", "failed", "displayed", "fetched",
    "opened", "read", "dismissed", "actions", "replies",
  ]

  package var exportCells: [ExportCell] {
    [.time(start)]
      + [
        notifications, withdrawn, recipients, sent, failed, displayed, fetched, opened, read,
        dismissed, actions, replies,
      ].map(ExportCell.number)
  }
}

extension ImportReport.Line: ExportRow {
  package static let exportColumns = ["line", "username", "result", "reason"]

  package var exportCells: [ExportCell] {
    [.number(line), .text(username), .text(result.rawValue), ExportCell(reason)]
  }
}

extension AuditPage.Entry: ExportRow {
  package static let exportColumns = [
    "number", "time", "action", "actor", "actorNumber", "actorName", "credential", "credentialID",
    "address", "object", "objectID", "objectName", "detail", "count", "request",
    "owner", "ownerName",
  ]

  package var exportCells: [ExportCell] {
    [
      .number(number), .time(time), .text(action), .text(actor.kind),
      actor.number.map(ExportCell.number) ?? .none, ExportCell(actor.name),
      ExportCell(actor.credential), ExportCell(actor.credentialID), ExportCell(actor.address),
      ExportCell(object?.kind), ExportCell(object?.id), ExportCell(object?.name),
      ExportCell(detail), .number(count), ExportCell(request),
      object?.owner.map(ExportCell.number) ?? .none, ExportCell(object?.ownerName),
    ]
  }
}

// MARK: - Pages of them

/// A page of a table that can be exported.
package protocol ExportedPage: Encodable, Sendable {
  associatedtype Row: ExportRow
  /// What is on it.
  var rows: [Row] { get }
  /// The number at which the next page goes on; nil on the last one.
  var next: Int? { get }
}

extension SentPage: ExportedPage {
  package var rows: [Entry] { notifications }
}

extension ReceiptPage: ExportedPage {
  package var rows: [RichNotification.Receipt] { receipts }
}

extension AuditPage: ExportedPage {
  package var rows: [Entry] { entries }
}

extension WeekStatistics: ExportedPage {
  package var rows: [Week] { weeks }
  package var next: Int? { nil }
}
