/// The decoded `name=value` pairs of a query, in order.
package struct Query: Sendable {
  /// The pairs; a name without "=" has an empty value.
  package let items: [(name: String, value: String)]

  /// A query of these pairs.
  package init(_ items: [(name: String, value: String)] = []) { self.items = items }

  /// The value of the first pair of that name.
  package subscript(_ name: String) -> String? { items.first { $0.name == name }?.value }

  /// Decodes what stands after the "?"; nil for an invalid escape, a NUL or bytes that are not UTF-8.
  init?(encoded: Span<UInt8>) {
    var items: [(name: String, value: String)] = []
    var start = 0
    for end in 0...encoded.count
    where end == encoded.count || encoded[end] == UInt8(ascii: "&") {
      defer { start = end + 1 }
      guard start < end else { continue }
      var cut = start
      while cut < end, encoded[cut] != UInt8(ascii: "=") { cut += 1 }
      let name = encoded.extracting(start..<cut)
      let value = encoded.extracting(min(cut + 1, end)..<end)
      guard let name = PercentEncoding.decode(name, plusIsBlank: true),
        let value = PercentEncoding.decode(value, plusIsBlank: true)
      else { return nil }
      items.append((name, value))
    }
    self.items = items
  }
}
