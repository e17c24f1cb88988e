import HTTP
import RichPushAPI
import Store

/// `/api/attributes/import`, for publishers.
struct ImportRoutes: Sendable {
  let store: Store
  let exports: Exports

  /// How long an import may take; what it has done by then stays.
  static let time = Duration.seconds(600)

  /// `POST /api/attributes/import`: replaces what is known of the users in a CSV file, or with `dry-run` only says what
  /// that would do; a report, or what became of each line as a table.
  func post(_ context: RequestContext) async throws -> Response {
    let query = try context.query("dry-run")
    let isTable = exports.isAsked(for: context)
    var importer = AttributeImporter(
      try AttributeFile(context.bytes()), into: store.accounts, isDryRun: query["dry-run"] != nil)
    var report = ImportReport()
    var table: [ImportReport.Line] = []
    while let lines = try await importer.next() {
      report.add(lines)
      if isTable { table += lines }
      try Task.checkCancellation()
      try await store.requireCurrent(context.caller, context.login)
    }
    guard isTable else { return .json(200, report) }
    return try await exports.response(context, named: "import", largest: 500) {
      [table] next, count in
      let rows = table.dropFirst(next ?? 0).prefix(count)
      return ImportedLines(
        rows: Array(rows), next: rows.endIndex < table.endIndex ? rows.endIndex : nil)
    }
  }
}

/// A part of the table of an import.
private struct ImportedLines: ExportedPage {
  let rows: [ImportReport.Line]
  let next: Int?
}
