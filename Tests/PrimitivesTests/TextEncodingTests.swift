import Primitives
import Testing

@Suite(.timeLimit(.minutes(1))) struct Base64URLTests {
  // RFC 4648, section 10, and the two digits that differ from plain Base64.
  @Test(
    arguments: [
      ("", []), ("Zg", [0x66]), ("Zm8", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]),
      ("Zm9vYg", [0x66, 0x6F, 0x6F, 0x62]), ("-_-_", [0xFB, 0xFF, 0xBF]),
    ] as [(String, [UInt8])])
  func `writes and reads bytes`(text: String, bytes: [UInt8]) {
    #expect(Base64URL.encode(bytes) == text)
    #expect(Base64URL.decode(text) == bytes)
  }

  @Test func `every byte survives at every place`() {
    for length in 0..<8 {
      for byte in UInt8.min ... .max {
        let bytes = [UInt8](repeating: byte, count: length)
        #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
      }
    }
  }

  @Test func `padding is accepted`() {
    #expect(Base64URL.decode("Zg==") == [0x66])
    #expect(Base64URL.decode("Zm8=") == [0x66, 0x6F])
  }

  @Test(arguments: ["Z", "Zm9vY", "Zg===", "Z+", "Z/", "Z g", "Zé", "Zg\n"])
  func `other text is refused`(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }
}
