/// Writes JSON: an object's members in the order of their names, nothing that need not be there.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ value: JSONValue) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .number(let value): bytes += Self.text(of: value).utf8
    case .string(let text): write(text)
    case .array(let items): list(items, "[", "]") { writer, item in writer.write(item) }
    case .object(let members):
      list(members.sorted { $0.key < $1.key }, "{", "}") { writer, member in
        writer.write(member.key)
        writer.bytes.append(UInt8(ascii: ":"))
        writer.write(member.value)
      }
    }
  }

  private mutating func list<Item>(
    _ items: [Item], _ start: Unicode.Scalar, _ end: Unicode.Scalar,
    _ write: (inout JSONWriter, Item) -> Void
  ) {
    bytes.append(UInt8(ascii: start))
    for (index, item) in items.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      write(&self, item)
    }
    bytes.append(UInt8(ascii: end))
  }

  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0x0A: bytes += "\\n".utf8
      case 0x0D: bytes += "\\r".utf8
      case 0x09: bytes += "\\t".utf8
      case ..<0x20:
        bytes += (byte < 0x10 ? "\\u000" : "\\u00").utf8
        bytes += String(byte, radix: 16).utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// A whole number without a point; what JSON has no word for is `null`.
  private static func text(of number: Double) -> String {
    if let whole = Int(exactly: number) { return String(whole) }
    return number.isFinite ? "\(number)" : "null"
  }
}
