/// An element's start tag in HTML, as far as a link card needs to know it.
struct StartTag {
  /// The name in lower case.
  let name: String
  /// The attributes; names in lower case, values with their character references resolved.
  let attributes: [String: String]
}

/// Walks the start tags of HTML text, skipping comments and what scripts and styles contain.
struct TagReader {
  private var rest: Substring.UTF8View

  init(_ html: String) { rest = html[...].utf8 }

  /// The next start tag; nil at the end.
  mutating func next() -> StartTag? {
    while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[open...].dropFirst()
      if starts(with: "!--") {
        skip(past: "-->")
      } else if let first = rest.first, Self.isLetter(first) {
        let name = take { !Self.isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        let tag = StartTag(name: name.lowercased(), attributes: attributes())
        if ["script", "style", "noscript", "template"].contains(tag.name) {
          skip(past: "</\(tag.name)")
        }
        return tag
      }
    }
    return nil
  }

  /// The text up to the next tag, its character references resolved.
  mutating func text() -> String { CharacterReferences.resolved(take { $0 != UInt8(ascii: "<") }) }

  private mutating func attributes() -> [String: String] {
    var found: [String: String] = [:]
    while found.count < 64 {
      rest = rest.drop { Self.isSpace($0) || $0 == UInt8(ascii: "/") }
      guard let first = rest.first, first != UInt8(ascii: ">") else { break }
      let name = take { !Self.isSpace($0) && !"=>/".utf8.contains($0) }.lowercased()
      rest = rest.drop(while: Self.isSpace)
      guard name.isEmpty || rest.first == UInt8(ascii: "=") else { continue }
      rest = rest.dropFirst()
      rest = rest.drop(while: Self.isSpace)
      let value = value()
      if found[name] == nil { found[name] = CharacterReferences.resolved(value) }
    }
    rest = rest.drop { $0 != UInt8(ascii: ">") }.dropFirst()
    return found
  }

  private mutating func value() -> String {
    guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      return take { !Self.isSpace($0) && $0 != UInt8(ascii: ">") }
    }
    rest = rest.dropFirst()
    defer { rest = rest.dropFirst() }
    return take { $0 != quote }
  }

  private mutating func take(while isPart: (UInt8) -> Bool) -> String {
    let piece = rest.prefix(while: isPart)
    rest = rest[piece.endIndex...]
    return String(piece) ?? ""
  }

  private func starts(with text: String) -> Bool {
    zip(rest, text.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
      && rest.prefix(text.utf8.count).count == text.utf8.count
  }

  private mutating func skip(past text: String) {
    while !rest.isEmpty, !starts(with: text) { rest = rest.dropFirst() }
    rest = rest.dropFirst(text.utf8.count)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }
}
