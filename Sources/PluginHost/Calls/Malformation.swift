/// What is wrong with the bytes a plugin wrote, as the end of a sentence.
struct Malformation: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }

  /// The beginning of `bytes` for a log line: exactly what was there, control characters escaped.
  static func quoted(_ bytes: some Collection<UInt8>) -> String {
    let text = bytes.prefix(80).reduce(into: "") { text, byte in
      text += 0x20..<0x7F ~= byte ? String(Unicode.Scalar(byte)) : escaped(byte)
    }
    return "\"\(text)\"" + (bytes.count > 80 ? "…" : "")
  }

  private static func escaped(_ byte: UInt8) -> String {
    byte == 0x0A ? "\\n" : byte == 0x0D ? "\\r" : "\\x" + String(byte, radix: 16)
  }
}
