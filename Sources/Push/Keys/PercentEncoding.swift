/// Percent-encoding (RFC 3986 section 2.1) of everything but unreserved characters.
enum PercentEncoding {
  static func encoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      let character = Character(Unicode.Scalar(byte))
      if byte < 0x80, character.isLetter || character.isNumber || "-_.~".contains(character) {
        encoded.append(character)
      } else {
        encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
