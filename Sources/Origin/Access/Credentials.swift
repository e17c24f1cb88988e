import FoundationEssentials

/// A name and a password as Basic authentication carries them (RFC 7617).
struct Credentials: Sendable {
  let name: String
  let password: String

  /// Reads the value of an `Authorization` field; nil when it is not a well-formed `Basic`.
  ///
  /// The pair is split at its first colon, so that a password may hold more of them.
  init?(_ authorization: String) {
    let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "basic", parts[1].utf8.count <= 1024,
      let data = Data(base64Encoded: String(parts[1])),
      let pair = String(validating: data, as: UTF8.self),
      let colon = pair.firstIndex(of: ":")
    else { return nil }
    name = String(pair[..<colon])
    password = String(pair[pair.index(after: colon)...])
    guard UserName.isValid(name), !password.utf8.contains(0) else { return nil }
  }
}

/// What a user may be called.
package enum UserName {
  /// Whether the name fits tags, logs and URLs: 1 to 64 of letters, digits and `-_.@`.
  package static func isValid(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(isValid(byte:))
  }

  /// Whether the byte may stand in a name.
  static func isValid(byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
      UInt8(ascii: "."), UInt8(ascii: "@"):
      true
    default: false
    }
  }
}
