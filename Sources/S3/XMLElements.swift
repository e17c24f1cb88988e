/// The texts of elements in an answer of S3, which is XML without attributes that matter.
struct XMLElements {
  private let text: String

  init(_ bytes: [UInt8]) { text = String(decoding: bytes, as: UTF8.self) }

  private init(_ text: Substring) { self.text = String(text) }

  /// What is in the first element of a name.
  subscript(_ name: String) -> String? {
    contents(of: name, limit: 1).first.map { Self.decoded($0) }
  }

  /// The elements of a name; they must not be in one another.
  func elements(_ name: String) -> [XMLElements] {
    contents(of: name, limit: .max).map { XMLElements($0) }
  }

  private func contents(of name: String, limit: Int) -> [Substring] {
    var (found, rest): ([Substring], Substring) = ([], text[...])
    while found.count < limit, let start = rest.firstRange(of: "<\(name)>"),
      let end = rest[start.upperBound...].firstRange(of: "</\(name)>")
    {
      found.append(rest[start.upperBound..<end.lowerBound])
      rest = rest[end.upperBound...]
    }
    return found
  }

  private static func decoded(_ text: Substring) -> String {
    [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#34;", "\""), ("&apos;", "'"),
      ("&amp;", "&"),
    ]
    .reduce(String(text)) { text, entity in text.replacing(entity.0, with: entity.1) }
  }
}
