/// A media type as HTTP names it, without parameters: `image/png` (RFC 9110 section 8.3.1).
package struct MediaType: Sendable, Hashable, CustomStringConvertible {
  /// The type and subtype in lower case, such as `audio/mpeg`.
  package let value: String

  /// How many leading bytes of a resource decide its type (WHATWG MIME Sniffing section 5.2).
  package static let prefixLength = 1445

  /// The type of bytes that nothing is known about: `application/octet-stream`.
  package static let unknown = MediaType(known: "application/octet-stream")

  /// Plain text, which is also the answer for text that no more exact type was found for.
  package static let plainText = MediaType(known: "text/plain")

  /// A type as somebody declared it, parameters dropped; nil when it is not `type/subtype`.
  package init?(_ declared: String) {
    let essence = declared.utf8.drop { $0 == UInt8(ascii: " ") }.prefix { byte in
      byte != UInt8(ascii: ";") && byte != UInt8(ascii: " ")
    }
    let parts = essence.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isTokenByte) })
    else { return nil }
    value = Substring(essence).lowercased()
  }

  /// A type that this room spells itself.
  init(known value: String) { self.value = value }

  package var description: String { value }

  /// What stands before the slash: `image`, `audio`, `video`, `text`, `application`.
  package var family: Substring { value.prefix { $0 != "/" } }

  /// Whether the type is one of a pattern such as `audio/*`, `image/png` or `*/*`.
  package func matches(_ pattern: String) -> Bool {
    pattern == "*/*" || pattern == value || pattern == "\(family)/*"
  }

  /// Whether a byte may stand in a token (RFC 9110 section 5.6.2).
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
