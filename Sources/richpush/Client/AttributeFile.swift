import FoundationEssentials
import RichPushAPI
import RichPushClient

/// A CSV file (RFC 4180) with attributes of users: a line for each user, whose name is in the column `username`.
struct AttributeFile {
  /// What is known of each user, in the order of the file.
  private var users: [(name: String, attributes: [String: String])] = []

  /// The most users in a request, and the most bytes of their attributes.
  private static let batch = (users: 1000, bytes: 2 << 20)

  /// Reads a file.
  ///
  /// - Throws: an error that names the line, if one is wrong.
  init(_ path: String) throws(CommandLineError) {
    let content: Data
    do { content = try Data(contentsOf: URL(filePath: path)) } catch {
      throw .failed("\(path) cannot be read", exitCode: ExitCode.notFound)
    }
    guard let text = String(validating: content, as: UTF8.self) else {
      throw Self.wrong(path, 1, "the file is not UTF-8")
    }
    var records = try CSVRecords(text, path)
    guard let head = try records.next()?.fields, let key = head.firstIndex(of: "username") else {
      throw Self.wrong(path, 1, "there is no column “username”")
    }
    for name in head where !PlaceholderText.isName(name) {
      throw Self.wrong(
        path, 1, "\(name.quoted) is not the name of an attribute: [a-z][A-Za-z0-9_]*")
    }
    guard Set(head).count == head.count, head.count <= NotificationMessage.mostValues + 1 else {
      throw Self.wrong(path, 1, "a column is there twice, or more than 32 beside “username”")
    }
    var known: Set<String> = []
    while let (line, fields) = try records.next() {
      guard fields.count == head.count else {
        throw Self.wrong(path, line, "\(fields.count) fields, not \(head.count)")
      }
      let name = fields[key]
      guard UserName.isValid(name) else {
        throw Self.wrong(path, line, "\(name.quoted) is not a user's name")
      }
      guard known.insert(name).inserted else {
        throw Self.wrong(path, line, "\(name.quoted) is there twice")
      }
      var attributes: [String: String] = [:]
      for (column, value) in zip(head, fields) where column != "username" && !value.isEmpty {
        guard value.utf8.count <= NotificationMessage.longestValue else {
          throw Self.wrong(path, line, "\(column) has more than 256 bytes")
        }
        attributes[column] = value
      }
      users.append((name, attributes))
    }
  }

  /// Sends all of it, a part at a time, and reports how many users were changed.
  ///
  /// - Throws: an error with the names that no user has, once the others are changed.
  func send(by client: RichPushClient, _ report: Report) async throws {
    defer { Terminal.showProgress("") }
    var (changed, unknown) = (0, [String]())
    var rest = users[...]
    while !rest.isEmpty {
      var (part, bytes) = ([String: [String: String]](), 0)
      while let next = rest.first, part.count < Self.batch.users, bytes < Self.batch.bytes {
        part[next.name] = next.attributes
        bytes += next.attributes.values.reduce(0) { $0 + $1.utf8.count }
        rest.removeFirst()
      }
      let result = try await client.importAttributes(part)
      changed += result.changed
      unknown += result.unknown
      Terminal.showProgress("\(users.count - rest.count) of \(users.count) users")
    }
    Terminal.showProgress("")
    report.show(
      AttributeReport(changed: changed, unknown: unknown),
      "changed the attributes of \(changed) users")
    guard unknown.isEmpty else {
      let names = unknown.prefix(10).map(\.quoted).joined(separator: ", ")
      let more = unknown.count > 10 ? " and \(unknown.count - 10) others" : ""
      throw CommandLineError.failed(
        "there are no users \(names)\(more)", exitCode: ExitCode.notFound)
    }
  }

  fileprivate static func wrong(_ path: String, _ line: Int, _ problem: String) -> CommandLineError
  {
    .failed("\(path), line \(line): \(problem)", exitCode: ExitCode.refused)
  }
}

/// The records of CSV text (RFC 4180); lines may also end with a line feed alone.
private struct CSVRecords {
  private let path: String
  private var rest: Substring.UnicodeScalarView
  private var line = 1

  init(_ text: String, _ path: String) throws(CommandLineError) {
    self.path = path
    rest = text.unicodeScalars[...]
    // Spreadsheets begin with a byte order mark.
    if rest.first == "\u{FEFF}" { rest.removeFirst() }
  }

  /// The next record that is not an empty line, and the line that it begins in; nil after the last.
  mutating func next() throws(CommandLineError) -> (line: Int, fields: [String])? {
    while let first = rest.first, first == "\n" || first == "\r" { skipLineEnd() }
    guard !rest.isEmpty else { return nil }
    let start = line
    var fields = [try field()]
    while rest.first == "," {
      rest.removeFirst()
      fields.append(try field())
    }
    skipLineEnd()
    return (start, fields)
  }

  private mutating func field() throws(CommandLineError) -> String {
    var field = String.UnicodeScalarView()
    guard rest.first == "\"" else {
      while let next = rest.first, next != ",", next != "\n", next != "\r" {
        field.append(rest.removeFirst())
      }
      return String(field)
    }
    let start = line
    rest.removeFirst()
    while let next = rest.popFirst() {
      if next == "\n" { line += 1 }
      guard next == "\"" else {
        field.append(next)
        continue
      }
      if rest.first == "\"" {
        field.append(rest.removeFirst())
        continue
      }
      guard rest.isEmpty || ",\n\r".unicodeScalars.contains(rest[rest.startIndex]) else {
        throw AttributeFile.wrong(path, line, "a quoted field goes on after its quotation mark")
      }
      return String(field)
    }
    throw AttributeFile.wrong(path, start, "a quoted field does not end")
  }

  private mutating func skipLineEnd() {
    if rest.first == "\r" { rest.removeFirst() }
    if rest.first == "\n" { rest.removeFirst() }
    line += 1
  }
}
