import RichPushAPI
import Store

/// Replaces what is known of the users in a file, some hundred at a time, each time in a transaction.
///
/// An import that ended early can be begun again: what it has done is unchanged then.
struct AttributeImporter {
  private var file: AttributeFile
  private let accounts: any Accounts
  private let isDryRun: Bool

  /// The most lines of a transaction.
  private static let batch = 500

  /// An import, which changes nothing if `isDryRun`.
  init(_ file: AttributeFile, into accounts: any Accounts, isDryRun: Bool) {
    (self.file, self.accounts, self.isDryRun) = (file, accounts, isDryRun)
  }

  /// Imports the next lines, and returns what became of them; nil after the last.
  mutating func next() async throws -> [ImportReport.Line]? {
    var lines: [AttributeFile.Line] = []
    while lines.count < Self.batch, let line = file.next() { lines.append(line) }
    guard !lines.isEmpty else { return nil }
    var wanted: [String: [String: String]] = [:]
    for line in lines {
      if case .success(let attributes) = line.content { wanted[line.username] = attributes }
    }
    let stored = wanted.isEmpty ? [:] : try await accounts.attributes(named: Array(wanted.keys))
    let changes = wanted.filter { name, attributes in
      stored[name].map { $0 != attributes } ?? false
    }
    var changed = Set(changes.keys)
    if !isDryRun, !changes.isEmpty { changed = try await accounts.setAttributes(changes) }
    return lines.map { line in
      switch line.content {
      case .failure(let fault): line.refused(fault.description)
      case .success where changed.contains(line.username):
        ImportReport.Line(line.number, line.username, .changed)
      // A user may have been removed since its attributes were read.
      case .success where stored[line.username] != nil && changes[line.username] == nil:
        ImportReport.Line(line.number, line.username, .unchanged)
      case .success:
        line.refused("There is no user \(line.username.quoted): add the user first.")
      }
    }
  }
}

extension AttributeFile.Line {
  fileprivate func refused(_ reason: String) -> ImportReport.Line {
    // What is no name may be as long as a line.
    let name = String(String.UnicodeScalarView(username.unicodeScalars.prefix(64)))
    return ImportReport.Line(number, name, .refused, reason)
  }
}
