/// A request target taken apart (RFC 9112, section 3.2), in origin, absolute or asterisk form.
struct Target {
  /// The longest target that is read; longer ones are refused with 414.
  static let limit = 8000

  let segments: [String]
  let query: Query

  /// Splits the path at "/" and the query at "&", and only then decodes what stands between.
  ///
  /// - Parameter raw: the target as it stood in the request line.
  /// - Throws: 400 for what no valid request line holds, 414 for what is too long.
  init(_ raw: String) throws(Refusal) {
    guard raw.utf8.count <= Self.limit else {
      throw Refusal(414, "The request target is longer than \(Self.limit) bytes.")
    }
    guard raw.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
      throw Refusal(400, "The request target holds characters that must be percent-encoded.")
    }
    let origin = try Self.originForm(of: raw)
    let mark = origin.firstIndex(of: UInt8(ascii: "?")) ?? origin.endIndex
    var segments: [String] = []
    for part in origin[..<mark].dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    {
      guard let segment = PercentEncoding.decode(part) else { throw Self.badEscape }
      segments.append(segment)
    }
    self.segments = segments == [""] ? [] : segments
    guard mark != origin.endIndex else {
      query = Query()
      return
    }
    guard let query = Query(encoded: origin[origin.index(after: mark)...]) else {
      throw Self.badEscape
    }
    self.query = query
  }

  private static let badEscape = Refusal(
    400, "The request target holds an invalid percent-escape, a NUL or text that is not UTF-8.")

  private static func originForm(of raw: String) throws(Refusal) -> Substring.UTF8View {
    if raw.utf8.first == UInt8(ascii: "/") || raw == "*" { return raw[...].utf8 }
    for scheme in ["http://", "https://"] where raw.lowercased().hasPrefix(scheme) {
      let rest = raw.utf8.dropFirst(scheme.utf8.count)
      return rest[(rest.firstIndex { "/?".utf8.contains($0) } ?? rest.endIndex)...]
    }
    throw Refusal(400, "The request target must begin with \"/\".")
  }
}
