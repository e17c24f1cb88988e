/// Several ranges of a file as `multipart/byteranges` (RFC 9110, section 14.6).
struct MultipartByteRanges {
  /// Random, so that no file can contain it on purpose.
  let boundary = "part-\(UInt64.random(in: .min ... .max))"
  private(set) var pieces: [ResponseWriter.Piece] = []

  init(_ file: PreparedFile, _ parts: [Range<Int>]) {
    for part in parts {
      let head =
        "\r\n--\(boundary)\r\nContent-Type: \(file.content.mediaType)\r\n"
        + "Content-Range: \(part.contentRange(of: file.content.size))\r\n\r\n"
      pieces += [.bytes(Array(head.utf8)), file.part(part)]
    }
    pieces.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
  }

  var size: Int { pieces.reduce(0) { $0 + $1.count } }
}
