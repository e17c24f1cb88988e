/// Sends a body in chunks (RFC 9112, section 7.1).
enum ChunkedCoding {
  /// The bytes in wire format, as one chunk.
  static func chunk(_ bytes: [UInt8]) -> [UInt8] {
    Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
  }

  /// The end of the body, without trailers.
  static let lastChunk = Array("0\r\n\r\n".utf8)
}

/// Decodes a chunked body as it arrives (RFC 9112, section 7.1); trailers are discarded.
struct ChunkedDecoder {
  private enum State {
    case size(digits: Int), blanks, extensions, endOfLine, data, endOfData, lineFeedOfData
    case trailers, trailer, endOfTrailer, end
  }

  /// The most bytes of chunk extensions and trailers in a body, as section 7.1.1 asks for.
  private static let maximumExtraSize = 4096
  /// As many hexadecimal digits never overflow an Int.
  private static let maximumDigits = 15

  private static let cr = UInt8(ascii: "\r")
  private static let lf = UInt8(ascii: "\n")

  private let maximumChunkSize: Int
  private var state = State.size(digits: 0)
  /// The bytes of the current chunk that have not been read.
  private var remaining = 0
  private var extraSize = 0
  private(set) var isComplete = false

  init(maximumChunkSize: Int = .max) { self.maximumChunkSize = maximumChunkSize }

  /// Decodes up to and including the next piece of content, or all of the bytes.
  ///
  /// - Returns: how many bytes were read, and which of them are content.
  mutating func next(
    _ bytes: UnsafeRawBufferPointer
  ) throws(HTTPError) -> (used: Int, content: Range<Int>) {
    var position = 0
    while position < bytes.count, !isComplete {
      if case .data = state {
        let content = position..<min(bytes.count, position + remaining)
        remaining -= content.count
        if remaining == 0 { state = .endOfData }
        return (content.upperBound, content)
      }
      try consume(bytes[position])
      position += 1
    }
    return (position, position..<position)
  }

  private mutating func consume(_ byte: UInt8) throws(HTTPError) {
    switch (state, byte) {
    case (.size(let digits), _) where Character(Unicode.Scalar(byte)).isHexDigit:
      guard digits < Self.maximumDigits else {
        throw HTTPError(413, "A chunk exceeds the size limit.")
      }
      remaining = remaining << 4 | (Character(Unicode.Scalar(byte)).hexDigitValue ?? 0)
      state = .size(digits: digits + 1)
    case (.size(1...), Self.cr), (.blanks, Self.cr), (.extensions, Self.cr): state = .endOfLine
    case (.size(1...), UInt8(ascii: ";")), (.blanks, UInt8(ascii: ";")): state = .extensions
    case (.size(1...), 0x20), (.size(1...), 0x09): state = .blanks
    case (.endOfLine, Self.lf):
      guard remaining <= maximumChunkSize else { throw .bodyTooLarge(limit: maximumChunkSize) }
      state = remaining == 0 ? .trailers : .data
    case (.endOfData, Self.cr): state = .lineFeedOfData
    case (.lineFeedOfData, Self.lf): state = .size(digits: 0)
    case (.trailers, Self.cr): state = .end
    case (.trailer, Self.cr): state = .endOfTrailer
    case (.endOfTrailer, Self.lf): state = .trailers
    case (.end, Self.lf): isComplete = true
    case (.blanks, 0x20), (.blanks, 0x09), (.extensions, _), (.trailers, _), (.trailer, _):
      try discard(byte)
    default: throw Self.malformed
    }
  }

  private mutating func discard(_ byte: UInt8) throws(HTTPError) {
    extraSize += 1
    guard byte >= 0x20 && byte != 0x7F || byte == 0x09, extraSize <= Self.maximumExtraSize else {
      throw Self.malformed
    }
    if case .trailers = state { state = .trailer }
  }

  private static let malformed = HTTPError(400, "The chunked encoding of the body is malformed.")
}
