/// One POST to a push service.
struct TransferRequest: Sendable {
  let url: String
  let fields: [(name: String, value: String)]
  let body: [UInt8]
}

/// What a push service answered; head and body are cut at 64 KiB each.
struct TransferResponse: Sendable {
  static let limit = 65_536

  var status = 0
  /// The header lines as they came.
  var head: [UInt8] = []
  var body: [UInt8] = []

  /// The body as text, for messages.
  var text: String { String(decoding: body, as: UTF8.self) }

  /// A header field by its lower-case name; of several the first.
  func field(_ name: String) -> String? {
    var rest = head[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      let colon = line.startIndex + name.utf8.count
      guard colon < line.endIndex, line[colon] == UInt8(ascii: ":"),
        zip(line, name.utf8).allSatisfy({ $0 | 0x20 == $1 })
      else { continue }
      let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
      return String(decoding: value.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    }
    return nil
  }
}

/// Why there was no answer.
struct TransferFailure: Error, CustomStringConvertible {
  let reason: String
  /// Whether the service was silent for too long on a connection that stood, and may be dead.
  let isSilence: Bool

  var description: String { reason }
}
