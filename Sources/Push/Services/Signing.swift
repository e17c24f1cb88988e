import CGnuTLS
import FoundationEssentials

/// The signatures that push services ask for.
enum Signing {
  /// HMAC-SHA-256 (RFC 2104).
  static func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    cgnutls_hmac_sha256(key, key.count, message, message.count, &code)
    return code
  }

  /// ES256 (RFC 7518 section 3.4) with a P-256 private key in PEM.
  static func es256(pem: String, _ message: [UInt8]) throws(PushError) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: 64)
    let key = Array(pem.utf8CString.dropLast())
    let problem = cgnutls_es256_sign(key, key.count, message, message.count, &signature)
    guard let problem else { return signature }
    throw PushError(.key, "The private key cannot sign: \(String(cString: problem)).")
  }

  static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

  /// Base64 without padding for URLs (RFC 4648 section 5), as JSON Web Tokens use it.
  static func base64URL(_ bytes: [UInt8]) -> String {
    base64(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
