import Glibc
import Primitives

/// Collects what a plugin writes to its standard output: the header, then the content.
struct CGIResponseBuffer {
  /// The header with the empty line that ends it.
  private(set) var head: [UInt8] = []
  /// Whether the empty line has been read.
  private(set) var isHeadComplete = false
  private(set) var body: Spool

  /// A buffer for content of at most `limit` bytes; more than a MiB goes to a file in `folder`.
  init(limit: Int, folder: String) { body = Spool(limit: limit, folder: folder) }

  /// A buffer for no content.
  static let none = CGIResponseBuffer(limit: 0, folder: "")

  /// Appends the next piece; throws if a limit is exceeded or the disk is full.
  mutating func append(_ bytes: UnsafeRawBufferPointer) throws(MalformedOutput) {
    guard !isHeadComplete else { return try body.append(bytes) }
    if head.isEmpty { head.reserveCapacity(min(bytes.count, CGIResponseHead.maximumSize)) }
    for (index, byte) in bytes.enumerated() {
      head.append(byte)
      if byte == UInt8(ascii: "\n"), endsHead {
        isHeadComplete = true
        return try body.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(index + 1)))
      }
      if head.count > CGIResponseHead.maximumSize {
        throw MalformedOutput(
          "its header has more than \(CGIResponseHead.maximumSize) bytes: "
            + MalformedOutput.quoted(head))
      }
    }
  }

  /// Whether the line that has just ended is empty; lines end with LF or CRLF.
  private var endsHead: Bool {
    let line = head.dropLast().suffix(2)
    return line.isEmpty || line.last == UInt8(ascii: "\n")
      || (line.last == UInt8(ascii: "\r") && (line.count == 1 || line.first == UInt8(ascii: "\n")))
  }
}

/// Content of unknown size: in memory at first, in a file when it grows.
struct Spool {
  /// Content up to this size stays in memory, in bytes.
  static let memoryLimit = 1 << 20

  private(set) var bytes: [UInt8] = []
  private(set) var file: SpooledFile?
  private var writer: FileDescriptor?
  private let limit: Int
  private let folder: String

  init(limit: Int, folder: String) { (self.limit, self.folder) = (limit, folder) }

  /// The size so far, in bytes.
  var count: Int { file?.size ?? bytes.count }

  /// The content, for a reply.
  var content: PluginReply.Body { file.map { .file($0) } ?? .bytes(bytes) }

  /// Appends a piece; throws if the limit is exceeded or the disk is full.
  mutating func append(_ piece: UnsafeRawBufferPointer) throws(MalformedOutput) {
    guard count + piece.count <= limit else {
      throw MalformedOutput("its answer has more than the \(limit >> 20) MiB it may have")
    }
    if file == nil, bytes.count + piece.count <= Spool.memoryLimit {
      bytes += piece
      return
    }
    do throws(Errno) {
      if file == nil { try moveToFile() }
      try writer?.write(piece)
      file?.size += piece.count
    } catch {
      throw MalformedOutput("its answer cannot be spooled (is the disk full?)")
    }
  }

  private mutating func moveToFile() throws(Errno) {
    let path = "\(folder)/answer-" + .randomName()
    let writer = try FileDescriptor(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    file = SpooledFile(path: path, size: bytes.count)
    try writer.write(bytes)
    (self.writer, bytes) = (writer, [])
  }
}

/// The header of a plugin's response (RFC 3875 section 6.2).
struct CGIResponseHead: Sendable {
  let status: Int
  let contentType: String?
  let location: String?
  /// X-Sendfile: `asset`, or the path of a file in TMPDIR.
  let sendFile: String?
  /// The size of the content, if the header has it.
  let contentLength: Int?
  /// The other fields that a plugin may set.
  let fields: [(name: String, value: String)]
  /// Whether `Cache-Control` lets the response be stored.
  let isStorable: Bool

  /// The largest header, in bytes.
  static let maximumSize = 16_384

  /// The fields that are passed on; all others are the server's to set, and dropped.
  fileprivate static let passedOn: Set<String> = [
    "cache-control", "content-disposition", "content-language", "retry-after",
  ]

  /// Parses a header, with or without the empty line that ends it.
  init(_ bytes: [UInt8]) throws(MalformedOutput) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw MalformedOutput("its header is not UTF-8")
    }
    // Fields that must not be repeated; nil until they are found.
    var single: [String: String?] = [
      "content-type": nil, "status": nil, "location": nil, "content-length": nil,
      "x-sendfile": nil,
    ]
    var fields: [(name: String, value: String)] = []
    for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if line.isEmpty { continue }
      guard let (name, value) = Self.field(line) else {
        throw MalformedOutput("its header has the line \(MalformedOutput.quoted(line))")
      }
      if let known = single[name] {
        guard known == nil else { throw MalformedOutput("its header has \(name) twice") }
        single[name] = .some(value)
      } else if Self.passedOn.contains(name) {
        fields.append((name, value))
      }
    }
    contentType = single["content-type"] ?? nil
    location = single["location"] ?? nil
    sendFile = single["x-sendfile"] ?? nil
    let status = single["status"] ?? nil
    guard contentType != nil || location != nil || status != nil else {
      throw MalformedOutput("its header has neither Content-Type nor Location nor Status")
    }
    self.status = try Self.status(status) ?? (location == nil ? 200 : 302)
    contentLength = try Self.length(single["content-length"] ?? nil)
    self.fields = fields
    isStorable = !fields.contains { name, value in
      name == "cache-control"
        && value.lowercased().utf8.split { ", =".utf8.contains($0) }
          .contains { $0.elementsEqual("no-store".utf8) || $0.elementsEqual("private".utf8) }
    }
  }

  /// A line without its end (RFC 3875 section 6.3), the name in lower case; nil if it is malformed or folded.
  private static func field(_ line: Substring.UTF8View) -> (name: String, value: String)? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), Substring(line[..<colon]).isToken
    else { return nil }
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let rest = line[line.index(after: colon)...].drop(while: isSpace)
    let end = rest.lastIndex { !isSpace($0) }.map { rest.index(after: $0) } ?? rest.startIndex
    let value = rest[..<end]
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
      return nil
    }
    return (String(Substring(line[..<colon])).lowercased(), String(Substring(value)))
  }

  private static func length(_ text: String?) throws(MalformedOutput) -> Int? {
    guard let text else { return nil }
    guard text.utf8.allSatisfy({ UInt8.digits ~= $0 }), let length = Int(text) else {
      throw MalformedOutput("its Content-Length is \(MalformedOutput.quoted(text.utf8))")
    }
    return length
  }

  private static func status(_ text: String?) throws(MalformedOutput) -> Int? {
    guard let text else { return nil }
    let code = text.prefix { $0 != " " }
    guard code.utf8.count == 3, let status = Int(code), 100...599 ~= status else {
      throw MalformedOutput("its Status is \(MalformedOutput.quoted(text.utf8))")
    }
    return status
  }
}

extension PluginReply {
  /// Whether a field that a plugin sets, by its lowercase name, is passed on to clients.
  package static func isPassedOn(_ field: String) -> Bool {
    CGIResponseHead.passedOn.contains(field)
  }
}
