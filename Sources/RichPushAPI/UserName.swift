/// The rule for users' names.
package enum UserName {
  /// Whether the name fits tags, logs and URLs: 1 to 64 of letters, digits and `-_.@`.
  package static func isValid(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(isValid(byte:))
  }

  /// Whether the byte may occur in a name.
  package static func isValid(byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
      UInt8(ascii: "."), UInt8(ascii: "@"):
      true
    default: false
    }
  }
}
