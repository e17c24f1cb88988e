import Glibc

/// A page's bytes as text, in the character set that it declares.
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

  /// Converts by iconv(3); what a character set cannot mean becomes a question mark.
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
        var (to, room) = (output.baseAddress, output.count)
        while iconv(converter, &from, &left, &to, &room) == -1, errno == EILSEQ, left > 0 {
          from = from?.advanced(by: 1)
          left -= 1
          to?.pointee = CChar(bitPattern: UInt8(ascii: "?"))
          to = to?.advanced(by: 1)
          room -= 1
        }
        return output.count - room
      }
    }
    return String(decoding: output.prefix(written).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
