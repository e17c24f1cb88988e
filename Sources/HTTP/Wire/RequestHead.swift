import Glibc

/// The head of a request where it was received, taken apart and not yet believed (RFC 9112).
///
/// It is read in one pass and nothing is copied: it lives as long as the bytes do.
struct RequestHead {
  /// The most bytes that the field lines of a request may have; more is refused with 431.
  static let fieldsLimit = 6 * 1024
  static let linesLimit = 64
  /// The most bytes of the request line.
  private static let lineLimit = Target.limit + 64

  enum Version { case http10, http11 }

  /// What so many bytes are.
  enum Reading {
    case head(RequestHead)
    /// The beginning of a head.
    case incomplete
    /// No head, whatever may follow; the status says why.
    case refused(Int)
  }

  let method: UnsafeRawBufferPointer
  let target: UnsafeRawBufferPointer
  let version: Version
  /// How many bytes it has, with the empty line.
  let size: Int
  private let lines: UnsafeRawBufferPointer

  /// Reads a head from the beginning of what a connection has received.
  static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
    guard let end = bytes.newline(from: 0) else {
      return bytes.count > lineLimit ? .refused(414) : .incomplete
    }
    guard end <= lineLimit else { return .refused(414) }
    guard let line = bytes.line(from: 0, to: end), let space = line.first(of: 0x20),
      let last = line.last(of: 0x20), space > 0, last > space + 1, Guard.isToken(line[..<space])
    else { return .refused(400) }
    guard last - space - 1 <= Target.limit else { return .refused(414) }
    let version: Version
    switch Self.version(UnsafeRawBufferPointer(rebasing: line[(last + 1)...])) {
    case .known(let known): version = known
    case .foreign: return .refused(505)
    case .none: return .refused(400)
    }
    switch endOfFields(bytes, from: end + 1) {
    case .incomplete: return .incomplete
    case .refused(let status): return .refused(status)
    case .end(let empty):
      return .head(
        RequestHead(
          method: UnsafeRawBufferPointer(rebasing: line[..<space]),
          target: UnsafeRawBufferPointer(rebasing: line[(space + 1)..<last]), version: version,
          size: empty + 2, lines: UnsafeRawBufferPointer(rebasing: bytes[(end + 1)..<empty])))
    }
  }

  /// Hands on every field until one is not wanted; false then, and when a line is no field.
  func forEachField(
    _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    var start = 0
    while start < lines.count {
      guard let end = lines.newline(from: start), let line = lines.line(from: start, to: end),
        let colon = line.first(of: 0x3A), colon > 0
      else { return false }
      let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]).trimmed
      guard body(UnsafeRawBufferPointer(rebasing: line[..<colon]), value) else { return false }
      start = end + 1
    }
    return true
  }

  /// The fields as values; nil when a line is none.
  var fields: Fields? {
    var fields = Fields()
    let areFields = forEachField { name, value in
      fields.append(received: name, value)
      return true
    }
    return areFields ? fields : nil
  }

  private enum EndOfFields { case end(Int), incomplete, refused(Int) }

  private static func endOfFields(_ bytes: UnsafeRawBufferPointer, from first: Int) -> EndOfFields {
    var (start, count) = (first, 0)
    while let end = bytes.newline(from: start) {
      guard end > start, bytes[end - 1] == 0x0D else { return .refused(400) }
      if end == start + 1 { return .end(start) }
      count += 1
      guard count <= linesLimit, end - first <= fieldsLimit else { return .refused(431) }
      start = end + 1
    }
    // The last line's end and half of the empty line may have come.
    return bytes.count - first > fieldsLimit + 2 ? .refused(431) : .incomplete
  }

  private enum Spoken { case known(Version), foreign, none }

  private static func version(_ text: UnsafeRawBufferPointer) -> Spoken {
    guard text.count == 8, let base = text.baseAddress, memcmp(base, "HTTP/", 5) == 0,
      text[6] == UInt8(ascii: "."), text[5].isDigit, text[7].isDigit
    else { return .none }
    guard text[5] == UInt8(ascii: "1") else { return .foreign }
    return .known(text[7] == UInt8(ascii: "0") ? .http10 : .http11)
  }
}

extension UnsafeRawBufferPointer {
  /// Where the next line feed stands.
  fileprivate func newline(from start: Int) -> Int? {
    guard start < count, let base = baseAddress,
      let found = memchr(base + start, 0x0A, count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// The line that ends with the line feed there; nil when no carriage return stands before it.
  fileprivate func line(from start: Int, to end: Int) -> UnsafeRawBufferPointer? {
    guard end > start, self[end - 1] == 0x0D else { return nil }
    return UnsafeRawBufferPointer(rebasing: self[start..<(end - 1)])
  }

  fileprivate func first(of byte: UInt8) -> Int? {
    guard let base = baseAddress, let found = memchr(base, Int32(byte), count) else { return nil }
    return UnsafeRawPointer(found) - base
  }

  fileprivate func last(of byte: UInt8) -> Int? { lastIndex(of: byte) }

  /// Without blanks at its ends.
  fileprivate var trimmed: UnsafeRawBufferPointer {
    var rest = self[...]
    while let first = rest.first, first == 0x20 || first == 0x09 { rest.removeFirst() }
    while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
    return UnsafeRawBufferPointer(rebasing: rest)
  }
}

extension UInt8 {
  var isDigit: Bool { (48...57).contains(self) }
}
