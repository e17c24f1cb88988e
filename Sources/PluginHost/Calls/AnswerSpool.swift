/// Collects a plugin's standard output: the header apart, the content as it grows.
struct AnswerSpool {
  /// The bytes before the empty line, without it.
  private(set) var head: [UInt8] = []
  /// Whether the empty line has come.
  private(set) var isHeadComplete = false
  private(set) var body: Spool

  init(limit: Int, folder: String) {
    body = Spool(limit: limit, folder: folder)
  }

  /// Takes the next piece; throws when a limit is passed or the disk is full.
  mutating func append(_ bytes: UnsafeRawBufferPointer) throws(Malformation) {
    guard !isHeadComplete else { return try body.append(bytes) }
    if head.isEmpty { head.reserveCapacity(min(bytes.count, AnswerHead.mostBytes)) }
    for (index, byte) in bytes.enumerated() {
      head.append(byte)
      if byte == UInt8(ascii: "\n"), endsHead {
        isHeadComplete = true
        return try body.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(index + 1)))
      }
      if head.count > AnswerHead.mostBytes {
        throw Malformation(
          "its header has more than \(AnswerHead.mostBytes) bytes: "
            + Malformation.quoted(head[...]))
      }
    }
  }

  /// Whether the line just ended is empty, with the line end LF or CRLF.
  private var endsHead: Bool {
    let line = head.dropLast().suffix(2)
    return line.isEmpty || line.last == UInt8(ascii: "\n")
      || (line.last == UInt8(ascii: "\r") && (line.count == 1 || line.first == UInt8(ascii: "\n")))
  }
}
