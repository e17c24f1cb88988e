/// Takes a chunked body apart while it comes (RFC 9112, section 7.1); its trailers are dropped.
struct ChunkedBody {
  private enum State {
    case size(digits: Int), blanks, parameters, endOfLine, data, endOfData(Int)
    case trailers, trailer, endOfTrailer, end
  }

  private static let malformed = Refusal(400, "The body is not chunked as it should be.")
  /// The most bytes of chunk parameters and trailers in a whole body.
  private static let extraLimit = 4096

  /// The largest chunk that is taken.
  private let limit: Int
  private var state = State.size(digits: 0)
  /// What is left of the chunk.
  private var left = 0
  private var extra = 0
  private(set) var isComplete = false

  init(limit: Int = .max) { self.limit = limit }

  /// Reads on, to the next piece of content or as far as the bytes go.
  ///
  /// - Returns: how many bytes were read, and which of them are content.
  mutating func next(
    _ bytes: UnsafeRawBufferPointer
  ) throws(Refusal) -> (used: Int, piece: Range<Int>) {
    var position = 0
    while position < bytes.count, !isComplete {
      if case .data = state {
        let piece = position..<min(bytes.count, position + left)
        left -= piece.count
        if left == 0 { state = .endOfData(0) }
        return (piece.upperBound, piece)
      }
      try take(bytes[position])
      position += 1
    }
    return (position, position..<position)
  }

  /// What ends a body that is sent in chunks.
  static let end = Array("0\r\n\r\n".utf8)

  /// Bytes as a chunk that is sent.
  static func chunk(_ bytes: [UInt8]) -> [UInt8] {
    Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
  }

  private mutating func take(_ byte: UInt8) throws(Refusal) {
    switch (state, byte) {
    case (.size(let digits), _) where byte.hexadecimal != nil:
      guard digits < 15 else { throw Refusal(413, "A chunk is larger than can be taken.") }
      left = left << 4 | (byte.hexadecimal ?? 0)
      state = .size(digits: digits + 1)
    case (.size(1...), 0x0D), (.blanks, 0x0D), (.parameters, 0x0D): state = .endOfLine
    case (.size(1...), 0x3B), (.blanks, 0x3B): state = .parameters
    case (.size(1...), 0x20), (.size(1...), 0x09): state = .blanks
    case (.endOfLine, 0x0A):
      guard left <= limit else { throw .tooLarge(limit) }
      state = left == 0 ? .trailers : .data
    case (.endOfData(0), 0x0D): state = .endOfData(1)
    case (.endOfData(1), 0x0A): state = .size(digits: 0)
    case (.trailers, 0x0D): state = .end
    case (.trailer, 0x0D): state = .endOfTrailer
    case (.endOfTrailer, 0x0A): state = .trailers
    case (.end, 0x0A): isComplete = true
    case (.blanks, 0x20), (.blanks, 0x09), (.parameters, _), (.trailers, _), (.trailer, _):
      try skip(byte)
    default: throw Self.malformed
    }
  }

  private mutating func skip(_ byte: UInt8) throws(Refusal) {
    extra += 1
    guard byte >= 0x20 && byte != 0x7F || byte == 0x09, extra <= Self.extraLimit else {
      throw Self.malformed
    }
    if case .trailers = state { state = .trailer }
  }
}

extension UInt8 {
  fileprivate var hexadecimal: Int? {
    switch self {
    case 0x30...0x39: Int(self) - 0x30
    case 0x41...0x46: Int(self) - 0x37
    case 0x61...0x66: Int(self) - 0x57
    default: nil
    }
  }
}
