import COpenSSL

/// Authenticates what this service has put into an object store, so that nobody else who can write there can
/// change renditions and their fields.
struct RenditionSeal: Sendable {
  /// The length of a code, in hexadecimal digits.
  static let length = 64

  private let key: [UInt8]

  /// With a key of its own, derived from a secret that all nodes have.
  init(secret: String) { key = Self.hmac(key: Array(secret.utf8), "richpush renditions, 1") }

  /// The code of a rendition with this header, which has the digest of the bytes, under a key.
  func code(of header: String, under rendition: Digest) -> [UInt8] {
    Array(Self.hexadecimal(Self.hmac(key: key, "\(rendition.hex)\n\(header)")).utf8)
  }

  /// Whether it is the code of a rendition, compared in constant time.
  func isCode(_ code: [UInt8], of header: String, under rendition: Digest) -> Bool {
    let expected = self.code(of: header, under: rendition)
    return code.count == expected.count && copenssl_equal(expected, code, expected.count)
  }

  private static func hmac(key: [UInt8], _ text: String) -> [UInt8] {
    let text = Array(text.utf8)
    var code = [UInt8](repeating: 0, count: 32)
    copenssl_hmac_sha256(key, key.count, text, text.count, &code)
    return code
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
