/// The decoded `name=value` pairs of a query, in order.
package struct Query: Sendable {
  /// The pairs; a name without "=" has an empty value.
  package let items: [(name: String, value: String)]

  /// A query of these pairs.
  package init(_ items: [(name: String, value: String)] = []) { self.items = items }

  /// The value of the first pair of that name.
  package subscript(_ name: String) -> String? { items.first { $0.name == name }?.value }

  /// Decodes what stands after the "?"; nil for an invalid escape, a NUL or bytes that are not UTF-8.
  init?(encoded: Substring.UTF8View) {
    var items: [(name: String, value: String)] = []
    for pair in encoded.split(separator: UInt8(ascii: "&")) {
      let cut = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      let rest = cut == pair.endIndex ? pair[cut...] : pair[pair.index(after: cut)...]
      guard let name = PercentEncoding.decode(pair[..<cut], plusIsBlank: true),
        let value = PercentEncoding.decode(rest, plusIsBlank: true)
      else { return nil }
      items.append((name, value))
    }
    self.items = items
  }
}
