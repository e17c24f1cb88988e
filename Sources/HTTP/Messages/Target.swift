/// A request target taken apart (RFC 9112, section 3.2), in origin, absolute or asterisk form.
struct Target {
  /// The longest target that is read; longer ones are refused with 414.
  static let limit = 3000

  let segments: [String]
  let query: Query

  /// Splits the path at "/" and the query at "&", and only then decodes what stands between.
  ///
  /// - Parameter raw: the target as it stood in the request line.
  /// - Throws: 400 for what no valid request line holds, 414 for what is too long.
  init(_ raw: String) throws(Refusal) {
    let bytes = raw.utf8.span
    guard bytes.count <= Self.limit else {
      throw Refusal(414, "The request target is longer than \(Self.limit) bytes.")
    }
    var mark = bytes.count
    for index in bytes.indices.reversed() {
      let byte = bytes[index]
      guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "#") else {
        throw Refusal(400, "The request target holds characters that must be percent-encoded.")
      }
      if byte == UInt8(ascii: "?") { mark = index }
    }
    let start = try Self.startOfPath(raw)
    guard let segments = Self.segments(bytes.extracting(min(start + 1, mark)..<mark)),
      let query = mark == bytes.count
        ? Query() : Query(encoded: bytes.extracting((mark + 1)..<bytes.count))
    else {
      throw Refusal(
        400, "The request target holds an invalid percent-escape, a NUL or text that is not UTF-8.")
    }
    self.segments = segments
    self.query = query
  }

  /// Where the first "/" of the path stands, or would.
  private static func startOfPath(_ raw: String) throws(Refusal) -> Int {
    if raw.utf8.first == UInt8(ascii: "/") || raw == "*" { return 0 }
    for scheme in ["http://", "https://"] where raw.lowercased().hasPrefix(scheme) {
      let rest = raw.utf8.dropFirst(scheme.utf8.count)
      let end = rest.firstIndex { "/?".utf8.contains($0) } ?? rest.endIndex
      return raw.utf8.distance(from: raw.startIndex, to: end)
    }
    throw Refusal(400, "The request target must begin with \"/\".")
  }

  private static func segments(_ path: Span<UInt8>) -> [String]? {
    guard !path.isEmpty else { return [] }
    var segments: [String] = []
    segments.reserveCapacity(4)
    var start = 0
    for index in 0...path.count where index == path.count || path[index] == UInt8(ascii: "/") {
      guard let segment = PercentEncoding.decode(path.extracting(start..<index)) else {
        return nil
      }
      segments.append(segment)
      start = index + 1
    }
    return segments
  }
}
