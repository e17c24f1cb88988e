/// Header fields in the order received, looked up without regard to case (RFC 9110, section 5).
package struct Fields: Sendable {
  private struct Line: Equatable {
    let name: Range<Int>
    let value: Range<Int>
  }

  // All names and values share one buffer: two allocations per message, however many fields it has.
  private var bytes: [UInt8] = []
  private var lines: [Line] = []

  /// Field lines in this order; control characters in values become spaces.
  package init(_ items: [(name: String, value: String)] = []) {
    for (name, value) in items { append(name, value) }
  }

  /// Whether there are no fields.
  package var isEmpty: Bool { lines.isEmpty }

  /// The value of the field, its lines joined by ", " (RFC 9110, section 5.3).
  ///
  /// Setting a value replaces all lines of the field; setting nil removes them.
  package subscript(_ name: String) -> String? {
    get {
      // Nearly every field has one line: the array of `values(of:)` is made only for the others.
      guard let first = lines.firstIndex(where: { matches($0, name) }) else { return nil }
      let hasMore = lines[(first + 1)...].contains { matches($0, name) }
      return hasMore ? values(of: name).joined(separator: ", ") : text(lines[first].value)
    }
    set {
      if lines.contains(where: { matches($0, name) }) {
        let others = lines.filter { !matches($0, name) }
        self = others.reduce(into: Fields()) { $0.append(text($1.name), text($1.value)) }
      }
      if let newValue { append(name, newValue) }
    }
  }

  /// The values of the field, one for each of its lines.
  package func values(of name: String) -> [String] {
    lines.filter { matches($0, name) }.map { text($0.value) }
  }

  /// The bytes of the field's first line as they were received, which need not be UTF-8; nil if there is none.
  package func bytes(of name: String) -> [UInt8]? {
    lines.first { matches($0, name) }.map { Array(bytes[$0.value]) }
  }

  /// The number of lines that the field has.
  func count(of name: String) -> Int { lines.count { matches($0, name) } }

  /// Adds a field line; control characters become spaces.
  package mutating func append(_ name: String, _ value: String) {
    // A CR or LF would end the line, so that a value could inject fields (response splitting).
    let value = value.utf8.lazy.map { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F ? 0x20 : $0 }
    append(bytes: name.utf8, value)
  }

  /// Adds a field line as it was received, unchecked: see ``RequestValidator``.
  mutating func append(received name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    if lines.isEmpty {
      // Enough for what browsers send, so that a request's fields are not copied while they grow.
      bytes.reserveCapacity(512)
      lines.reserveCapacity(12)
    }
    append(bytes: name, value)
  }

  private mutating func append(bytes name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) {
    let start = bytes.count
    bytes.append(contentsOf: name)
    let middle = bytes.count
    bytes.append(contentsOf: value)
    lines.append(Line(name: start..<middle, value: middle..<bytes.count))
  }

  /// The field lines as text, in order.
  package var items: [(name: String, value: String)] {
    lines.map { (text($0.name), text($0.value)) }
  }

  /// Appends the field lines in wire format.
  func write(to message: inout [UInt8]) {
    for line in lines {
      message += bytes[line.name]
      message += ": ".utf8
      message += bytes[line.value]
      message += "\r\n".utf8
    }
  }

  /// Whether the bytes of every line's name and value satisfy the predicate.
  func allSatisfy(
    _ predicate: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    bytes.withUnsafeBytes { bytes in
      lines.allSatisfy {
        predicate(
          UnsafeRawBufferPointer(rebasing: bytes[$0.name]),
          UnsafeRawBufferPointer(rebasing: bytes[$0.value]))
      }
    }
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  private func matches(_ line: Line, _ name: String) -> Bool {
    let wanted = name.utf8
    guard line.name.count == wanted.count else { return false }
    var position = line.name.lowerBound
    for byte in wanted {
      guard bytes[position].lowercased == byte.lowercased else { return false }
      position += 1
    }
    return true
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { (name: $0.0, value: $0.1) })
  }
}

extension Fields: Hashable {
  package static func == (left: Fields, right: Fields) -> Bool {
    left.bytes == right.bytes && left.lines == right.lines
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(lines.count) }
}

extension UInt8 {
  /// Whether this is an ASCII digit.
  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  /// The lower-case form of an ASCII letter; any other byte unchanged.
  fileprivate var lowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
