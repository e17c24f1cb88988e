import RichPushAPI

/// A CSV file with attributes of users: the first line names the columns, and each other one is of a user.
struct AttributeFile {
  /// A line of a user.
  struct Line {
    let number: Int
    /// What is in the column `username`, whatever it is; empty if the line does not go that far.
    let username: String
    /// What it says of the user, or what is wrong with it.
    let content: Result<[String: String], Fault>
  }

  /// Why a line cannot be taken.
  enum Fault: Error, Equatable {
    case malformed(CSVRecords.Fault)
    /// It has another number of fields than the first line.
    case fields(Int, columns: Int)
    case invalidName(String)
    /// The name is in a line before it, too.
    case repeated(String, line: Int)
    /// The value of a column has too many bytes.
    case longValue(column: String)
    /// The value of a column has a NUL character.
    case nul(column: String)
  }

  /// The most lines of a file.
  static let mostLines = 200_000

  private var records: CSVRecords
  private let columns: [String]
  private let nameColumn: Int
  /// The lines in which names are.
  private var lines: [String: Int] = [:]

  /// Reads the first line.
  ///
  /// - Throws: `rejected` if no line could be taken; `tooLarge` if there are too many.
  init(_ bytes: [UInt8]) throws(ServiceError) {
    guard !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]) else {
      throw ServiceError(.rejected, "The file is UTF-16: save it as “CSV UTF-8”.")
    }
    guard Self.countLines(bytes) <= Self.mostLines else {
      throw ServiceError(
        .tooLarge, "The file has more than \(Self.mostLines) lines: send it in parts.")
    }
    records = CSVRecords(bytes)
    guard let head = records.next() else {
      throw ServiceError(.rejected, "The file is empty: its first line names the columns.")
    }
    if let fault = head.fault {
      throw ServiceError(.rejected, "Line \(head.line): \(fault)")
    }
    columns = head.fields
    guard let nameColumn = columns.firstIndex(of: "username") else {
      throw ServiceError(
        .rejected, "There is no column “username”: the first line names the columns.")
    }
    self.nameColumn = nameColumn
    for name in columns where !PlaceholderText.isName(name) {
      throw ServiceError(
        .rejected,
        "The column \(name.quoted) cannot be an attribute, whose name is [a-z][A-Za-z0-9_]{0,31}.")
    }
    guard columns.count <= NotificationMessage.mostValues + 1, Set(columns).count == columns.count
    else {
      throw ServiceError(
        .rejected,
        "A column is there twice, or there are more than \(NotificationMessage.mostValues) beside “username”."
      )
    }
  }

  private static func countLines(_ bytes: [UInt8]) -> Int {
    var count = 0
    var last: UInt8 = 0x0A
    for byte in bytes {
      if byte == 0x0D || byte == 0x0A && last != 0x0D { count += 1 }
      last = byte
    }
    return last == 0x0D || last == 0x0A ? count : count + 1
  }

  /// The next line of a user; nil after the last.
  ///
  /// A line without any text, such as a spreadsheet writes of empty cells, is skipped.
  mutating func next() -> Line? {
    while let record = records.next() {
      if record.fault == nil, record.fields.allSatisfy(\.isEmpty) { continue }
      let name = record.fields.count > nameColumn ? record.fields[nameColumn] : ""
      do throws(Fault) {
        let attributes = try attributes(of: record, name)
        return Line(number: record.line, username: name, content: .success(attributes))
      } catch {
        return Line(number: record.line, username: name, content: .failure(error))
      }
    }
    return nil
  }

  private mutating func attributes(
    of record: CSVRecords.Record, _ name: String
  ) throws(Fault) -> [String: String] {
    if let fault = record.fault { throw .malformed(fault) }
    guard record.fields.count == columns.count else {
      throw .fields(record.fields.count, columns: columns.count)
    }
    guard UserName.isValid(name) else { throw .invalidName(name) }
    if let earlier = lines[name] { throw .repeated(name, line: earlier) }
    lines[name] = record.line
    var attributes: [String: String] = [:]
    for (column, value) in zip(columns, record.fields) where column != "username" && !value.isEmpty
    {
      guard value.utf8.count <= NotificationMessage.longestValue else {
        throw .longValue(column: column)
      }
      guard !value.utf8.contains(0) else { throw .nul(column: column) }
      attributes[column] = value
    }
    return attributes
  }
}

extension AttributeFile.Fault: CustomStringConvertible {
  /// What is wrong with a line of a user, and what to do.
  var description: String {
    switch self {
    case .malformed(let fault): fault.description
    case .fields(let count, let columns):
      "It has \(count == 1 ? "1 field" : "\(count) fields"), and the first line \(columns): quote fields that have a separator."
    case .invalidName(""): "The user's name is missing."
    case .invalidName(let name):
      "\(name.quoted) cannot be a user's name, which has from 1 to 64 letters, digits and “-_.@”."
    case .repeated(let name, let line):
      "\(name.quoted) is in line \(line), too: remove one of them."
    case .longValue(let column):
      "\(column) has more than \(NotificationMessage.longestValue) bytes: shorten it."
    case .nul(let column): "\(column) has a NUL character: remove it."
    }
  }
}
