import COpenSSL
import HTTP
import RichPushAPI

/// The signature of an event, as GitHub, Gitea and others make it: `X-Hub-Signature-256: sha256=` and the HMAC-SHA-256 of
/// the body in hexadecimal.
enum WebhookSignature {
  /// - Throws: `forbidden` if the request has not the signature of its body.
  static func check(
    _ request: Request, _ body: [UInt8], secret: String
  ) throws(ServiceError) {
    let given = (request.fields["X-Hub-Signature-256"] ?? "").lowercased()
    let expected = text(of: body, secret: secret)
    guard given.utf8.count == expected.utf8.count,
      copenssl_equal(expected, given, expected.utf8.count)
    else {
      throw ServiceError(
        .forbidden, "X-Hub-Signature-256 is missing, or not the signature of the body.")
    }
  }

  /// The value of the field.
  static func text(of body: [UInt8], secret: String) -> String {
    let key = Array(secret.utf8)
    var code = [UInt8](repeating: 0, count: 32)
    copenssl_hmac_sha256(key, key.count, body, body.count, &code)
    let digits = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    return "sha256=" + digits.joined()
  }
}
