import FoundationEssentials
import Primitives

/// Text in header fields, which clients of other programs encode in several ways.
enum ForeignText {
  /// The text of a field's value: UTF-8, or else ISO 8859-1, and what is encoded in it by RFC 2047.
  static func field(_ bytes: [UInt8]) -> String {
    decoded(String(validating: bytes, as: UTF8.self) ?? latin1(bytes))
  }

  private static func latin1(_ bytes: some Sequence<UInt8>) -> String {
    String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  /// Decodes encoded words (RFC 2047, section 2); what is none, or in an unknown character set, stays as it is.
  static func decoded(_ text: String) -> String {
    guard text.contains("=?") else { return text }
    var (result, rest, followsWord) = ("", text[...], false)
    while let start = rest.firstRange(of: "=?") {
      let gap = rest[..<start.lowerBound]
      guard let (word, end) = word(rest[start.lowerBound...]) else {
        result += rest[..<start.upperBound]
        (rest, followsWord) = (rest[start.upperBound...], false)
        continue
      }
      // White space between two encoded words only separates them (section 6.2).
      if !followsWord || gap.contains(where: { !$0.isWhitespace }) { result += gap }
      result += word
      (rest, followsWord) = (rest[end...], true)
    }
    return result + rest
  }

  /// The encoded word that a text begins with, and where it ends.
  private static func word(_ text: Substring) -> (String, Substring.Index)? {
    let parts = text.dropFirst(2).split(
      separator: "?", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, parts[3].first == "=", !parts[2].contains(" ") else { return nil }
    let bytes: [UInt8]?
    switch parts[1] {
    case "b", "B": bytes = Data(base64Encoded: padded(parts[2])).map(Array.init)
    case "q", "Q": bytes = quotedPrintable(parts[2].utf8)
    default: return nil
    }
    // A language may follow the character set (RFC 2231, section 5).
    let charset = parts[0].prefix { $0 != "*" }.lowercased()
    let content: String? =
      switch charset {
      case "utf-8", "us-ascii": bytes.flatMap { String(validating: $0, as: UTF8.self) }
      case "iso-8859-1": bytes.map { latin1($0) }
      default: nil
      }
    return content.map { ($0, text.index(after: parts[3].startIndex)) }
  }

  private static func padded(_ base64: Substring) -> String {
    base64 + String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
  }

  private static func quotedPrintable(_ text: Substring.UTF8View) -> [UInt8]? {
    var (bytes, rest) = ([UInt8](), text)
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "_"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "="):
        guard rest.count >= 2,
          let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
        else { return nil }
        bytes.append(value)
        rest = rest.dropFirst(2)
      default: bytes.append(byte)
      }
    }
    return bytes
  }

  /// One line, as titles are here.
  static func line(_ text: String) -> String {
    text.split { $0.isNewline || $0 == "\t" }.joined(separator: " ").trimming(\.isWhitespace)
  }

  /// A URL as links are here: what must be percent-encoded is.
  static func url(_ text: String) -> String {
    let forbidden = Set("\"<>\\^`{|}".utf8)
    return text.utf8.map { byte in
      (0x21...0x7E).contains(byte) && !forbidden.contains(byte)
        ? String(Unicode.Scalar(byte)) : PercentEncoding.escaped(byte)
    }.joined()
  }

  /// The host of a URL of the web, in lower case, an address of IPv6 in brackets; nil if it is none.
  static func webHost(_ text: String) -> String? {
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
      url.user == nil, let host = url.host, !host.isEmpty
    else { return nil }
    return host.contains(":") && !host.hasPrefix("[") ? "[\(host.lowercased())]" : host.lowercased()
  }
}
