import Foundation
import StandIns
import Testing

@testable import Push

/// Codes by the vectors of their standards, and keys in the forms that people have.
@Suite(.timeLimit(.minutes(1))) struct SigningTests {
  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
  }

  /// RFC 4231, sections 4.2, 4.3, 4.7 and 4.8: keys that are shorter and longer than a block.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0b, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131),
      "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131),
      "This is a test using a larger than block-size key and a larger than block-size data. "
        + "The key needs to be hashed before being used by the HMAC algorithm.",
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    ),
    ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
  ])
  func `HMAC-SHA-256 is that of the standard`(key: [UInt8], text: String, code: String) {
    #expect(Self.hexadecimal(Signing.hmac(key: key, Array(text.utf8))) == code)
  }

  private static func openssl(_ words: String...) throws -> String {
    let result = try StartedProgram.run("/usr/bin/openssl", words)
    try #require(result.exitCode == 0)
    return String(decoding: result.output, as: UTF8.self)
  }

  @Test func `a key of OpenSSL signs in both forms, also behind its parameters`() throws {
    let both = try Self.openssl("ecparam", "-name", "prime256v1", "-genkey")
    #expect(both.contains("BEGIN EC PARAMETERS") && both.contains("BEGIN EC PRIVATE KEY"))
    let modern = try Self.openssl(
      "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    #expect(modern.contains("BEGIN PRIVATE KEY"))
    for pem in [both, modern] { #expect(try Signing.es256(pem: pem, [1, 2, 3]).count == 64) }
    let legacy = try Self.openssl("genrsa", "-traditional", "2048")
    #expect(legacy.contains("BEGIN RSA PRIVATE KEY"))
    #expect(try Signing.rs256(pem: legacy, [1, 2, 3]).count == 256)
  }

  @Test func `a wrong key is refused with the reason`() throws {
    func refusal(_ sign: (String, [UInt8]) throws -> [UInt8], _ pem: String) -> String {
      do { return "\(try sign(pem, [1]))" } catch { return "\(error)" }
    }
    let es256 = { try Signing.es256(pem: $0, $1) }
    let rs256 = { try Signing.rs256(pem: $0, $1) }
    let other = try Self.openssl("ecparam", "-name", "secp384r1", "-genkey", "-noout")
    let short = try Self.openssl("genrsa", "1024")
    let edwards = try Self.openssl("genpkey", "-algorithm", "ED25519")
    let sealed = try Self.openssl(
      "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass",
      "pass:secret")
    for pem in [other, short, edwards] {
      #expect(refusal(es256, pem).contains("it is not a P-256 elliptic-curve key"))
      #expect(refusal(rs256, pem).contains("it is not an RSA key of 2048 to 8192 bits"))
    }
    for sign in [es256, rs256] {
      #expect(refusal(sign, sealed).contains("the key is encrypted with a passphrase"))
      for pem in ["", "no key", other.replacing("MI", with: "!!")] {
        #expect(refusal(sign, pem).contains("the key is not a private key in PEM"))
      }
    }
  }
}
