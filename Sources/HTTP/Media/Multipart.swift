import CMicroHTTPD

/// Several ranges of a file as `multipart/byteranges` (RFC 9110, section 14.6).
final class Multipart: @unchecked Sendable {  // immutable once it is made
  let size: Int
  let boundary: String
  private let mapping: Mapping
  private let heads: UnsafeMutableRawBufferPointer
  private let vectors: [MHD_IoVec]

  init(_ mapping: Mapping, _ parts: [Range<Int>], mediaType: String) {
    let boundary = "part-\(UInt64.random(in: .min ... .max))"
    let texts =
      parts.map {
        "\r\n--\(boundary)\r\nContent-Type: \(mediaType)\r\n"
          + "Content-Range: \($0.contentRange(of: mapping.size))\r\n\r\n"
      } + ["\r\n--\(boundary)--\r\n"]
    let block = texts.flatMap { Array($0.utf8) }
    let heads = UnsafeMutableRawBufferPointer.allocate(byteCount: block.count, alignment: 1)
    heads.copyBytes(from: block)
    var vectors: [MHD_IoVec] = []
    var position = 0
    for (index, text) in texts.enumerated() {
      let start = heads.baseAddress.map { UnsafeRawPointer($0 + position) }
      vectors.append(MHD_IoVec(iov_base: start, iov_len: text.utf8.count))
      position += text.utf8.count
      guard index < parts.count else { break }
      vectors.append(
        MHD_IoVec(
          iov_base: UnsafeRawPointer(mapping.bytes(parts[index])), iov_len: parts[index].count))
    }
    self.boundary = boundary
    self.mapping = mapping
    self.heads = heads
    self.vectors = vectors
    size = vectors.reduce(0) { $0 + $1.iov_len }
  }

  deinit { heads.deallocate() }

  func withVectors<R>(_ body: (UnsafeBufferPointer<MHD_IoVec>) -> R) -> R {
    vectors.withUnsafeBufferPointer(body)
  }
}

extension Range<Int> {
  /// The value of Content-Range (RFC 9110, section 14.4).
  func contentRange(of size: Int) -> String { "bytes \(lowerBound)-\(upperBound - 1)/\(size)" }
}
