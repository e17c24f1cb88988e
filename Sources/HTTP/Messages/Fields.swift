/// Header fields in the order they came, looked up without regard to case (RFC 9110, section 5).
package struct Fields: Sendable {
  private struct Line: Equatable {
    let name: Range<Int>
    let value: Range<Int>
  }

  /// Every name and value: two blocks of memory, however many fields.
  private var bytes: [UInt8] = []
  private var lines: [Line] = []

  /// No fields.
  package init() {}

  /// How many field lines there are.
  package var count: Int { lines.count }

  /// Whether there is no field.
  package var isEmpty: Bool { lines.isEmpty }

  /// The value of the field, its lines joined by ", " (RFC 9110, section 5.3); setting replaces all.
  package subscript(_ name: String) -> String? {
    get {
      guard let first = lines.firstIndex(where: { matches($0, name) }) else { return nil }
      let rest = lines[(first + 1)...].filter { matches($0, name) }
      guard rest.isEmpty else {
        return ([lines[first]] + rest).map { text($0.value) }.joined(separator: ", ")
      }
      return text(lines[first].value)
    }
    set {
      if lines.contains(where: { matches($0, name) }) {
        let others = lines.filter { !matches($0, name) }.map { (text($0.name), text($0.value)) }
        self = others.reduce(into: Fields()) { $0.append($1.0, $1.1) }
      }
      if let newValue { append(name, newValue) }
    }
  }

  /// The values of the field, one for each line.
  package func values(of name: String) -> [String] {
    lines.filter { matches($0, name) }.map { text($0.value) }
  }

  /// How many lines the field has.
  func count(of name: String) -> Int {
    lines.reduce(0) { $0 + (matches($1, name) ? 1 : 0) }
  }

  /// Adds a line; control characters become blanks, so that a value can never end its line.
  package mutating func append(_ name: String, _ value: String) {
    let start = bytes.count
    bytes.append(contentsOf: name.utf8)
    let middle = bytes.count
    for byte in value.utf8 {
      bytes.append(byte < 0x20 && byte != 0x09 || byte == 0x7F ? 0x20 : byte)
    }
    lines.append(Line(name: start..<middle, value: middle..<bytes.count))
  }

  /// Adds a line as it was received.
  mutating func append(received name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    if lines.isEmpty {
      bytes.reserveCapacity(512)
      lines.reserveCapacity(12)
    }
    let start = bytes.count
    bytes.append(contentsOf: name)
    let middle = bytes.count
    bytes.append(contentsOf: value)
    lines.append(Line(name: start..<middle, value: middle..<bytes.count))
  }

  /// The lines as text, in order.
  package var items: [(name: String, value: String)] {
    lines.map { (text($0.name), text($0.value)) }
  }

  /// Writes every line as it stands in a message.
  func write(to message: inout [UInt8]) {
    for line in lines {
      message += bytes[line.name]
      message += [0x3A, 0x20]
      message += bytes[line.value]
      message += [0x0D, 0x0A]
    }
  }

  /// Whether every line satisfies the rule, which sees the bytes of its name and value.
  func allSatisfy(_ rule: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool) -> Bool {
    bytes.withUnsafeBytes { block in
      lines.allSatisfy {
        rule(
          UnsafeRawBufferPointer(rebasing: block[$0.name]),
          UnsafeRawBufferPointer(rebasing: block[$0.value]))
      }
    }
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  private func matches(_ line: Line, _ name: String) -> Bool {
    let wanted = name.utf8
    guard line.name.count == wanted.count else { return false }
    var position = line.name.lowerBound
    for byte in wanted {
      guard Self.lowered(bytes[position]) == Self.lowered(byte) else { return false }
      position += 1
    }
    return true
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }
}

extension Fields: Hashable {
  package static func == (left: Fields, right: Fields) -> Bool {
    left.bytes == right.bytes && left.lines == right.lines
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(lines.count) }
}
