/// Several ranges of a file as `multipart/byteranges` (RFC 9110, section 14.6).
struct Multipart {
  let boundary = "part-\(UInt64.random(in: .min ... .max))"
  private(set) var pieces: [Output.Piece] = []

  init(_ mapping: Mapping, _ parts: [Range<Int>], mediaType: String) {
    for part in parts {
      let head =
        "\r\n--\(boundary)\r\nContent-Type: \(mediaType)\r\n"
        + "Content-Range: \(part.contentRange(of: mapping.size))\r\n\r\n"
      pieces += [.bytes(Array(head.utf8)), .mapped(mapping, part)]
    }
    pieces.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
  }

  var size: Int { pieces.reduce(0) { $0 + $1.count } }
}

extension Range<Int> {
  /// The value of Content-Range (RFC 9110, section 14.4).
  func contentRange(of size: Int) -> String { "bytes \(lowerBound)-\(upperBound - 1)/\(size)" }
}
