import Glibc

/// A start tag in HTML, as far as a link card needs it.
struct StartTag {
  /// The name in lower case.
  let name: String
  /// The attributes; names in lower case, values with their character references resolved.
  let attributes: [String: String]
}

/// The start tags of HTML text; comments and the content of scripts and styles are skipped.
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
    rest.starts(with: text.utf8) { $0 | 0x20 == $1 | 0x20 }
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

/// Character references of HTML, such as `&amp;` and `&#8211;`.
private enum CharacterReferences {
  /// The text with its references resolved; unknown ones are kept.
  static func resolved(_ text: String) -> String {
    guard text.contains("&") else { return text }
    var result = ""
    var rest = text[...]
    while let start = rest.firstIndex(of: "&") {
      result += rest[..<start]
      let name = rest[start...].dropFirst().prefix(10).prefix {
        $0.isLetter || $0.isNumber || $0 == "#"
      }
      if let character = character(named: name) {
        result += character
        rest = rest[name.endIndex...]
        if rest.first == ";" { rest = rest.dropFirst() }
      } else {
        result += "&"
        rest = rest[start...].dropFirst()
      }
    }
    return result + rest
  }

  private static func character(named name: Substring) -> String? {
    guard name.hasPrefix("#") else { return names[name] }
    let digits = name.dropFirst()
    let isHexadecimal = digits.lowercased().hasPrefix("x")
    let value = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return value.flatMap(Unicode.Scalar.init).map { String($0) }
  }

  private static let names: [Substring: String] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "ndash": "–",
    "mdash": "—", "hellip": "…", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”",
    "laquo": "«", "raquo": "»", "middot": "·", "bull": "•", "copy": "©", "reg": "®", "trade": "™",
    "auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü", "szlig": "ß",
    "eacute": "é", "egrave": "è", "agrave": "à", "ccedil": "ç", "ntilde": "ñ", "euro": "€",
  ]
}

/// Decodes a page by the character set that it declares.
enum PageText {
  /// Decodes HTML by the header's `charset`, else by the page's own, else as UTF-8.
  static func decode(_ bytes: [UInt8], contentType: String) -> String {
    let head = String(decoding: bytes.prefix(1024), as: UTF8.self)
    let name = charset(in: contentType) ?? charset(in: head) ?? "utf-8"
    if name == "utf-8" || name == "utf8" { return String(decoding: bytes, as: UTF8.self) }
    return converted(bytes, from: name) ?? String(decoding: bytes, as: UTF8.self)
  }

  /// The name behind the first `charset=`.
  private static func charset(in text: String) -> String? {
    let parts = text.lowercased().split(separator: "charset=", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    let name = parts[1].drop { "\"' ".contains($0) }
      .prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-_:.".contains($0)) }
    return name.isEmpty || name.count > 32 ? nil : String(name)
  }

  /// Converts by iconv(3); invalid bytes become question marks.
  private static func converted(_ bytes: [UInt8], from name: String) -> String? {
    guard let converter = iconv_open("UTF-8", name), converter != iconv_t(bitPattern: -1) else {
      return nil
    }
    defer { iconv_close(converter) }
    var input = bytes.map { CChar(bitPattern: $0) }
    var output = [CChar](repeating: 0, count: bytes.count * 4 + 16)
    let written = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        var (from, left) = (input.baseAddress, input.count)
        var (to, capacity) = (output.baseAddress, output.count)
        // Some characters take more than four times as many bytes in UTF-8: what has no space is left out.
        while iconv(converter, &from, &left, &to, &capacity) == -1, errno == EILSEQ, left > 0,
          capacity > 0
        {
          from = from?.advanced(by: 1)
          left -= 1
          to?.pointee = CChar(bitPattern: UInt8(ascii: "?"))
          to = to?.advanced(by: 1)
          capacity -= 1
        }
        return output.count - capacity
      }
    }
    return String(decoding: output.prefix(written).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
