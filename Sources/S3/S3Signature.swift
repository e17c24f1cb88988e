import COpenSSL
import Glibc
import Primitives

/// AWS Signature Version 4, as the `Authorization` field
/// (docs.aws.amazon.com, "Signature Calculations for the Authorization Header").
struct S3Signature {
  let credentials: S3Credentials
  let region: String
  /// The time of the request, `20130524T000000Z`.
  let time: String

  /// The SHA-256 of no bytes.
  static let emptyDigest = sha256([])

  /// The value of `Authorization` for a request.
  ///
  /// `path` is percent-encoded, `query` is not; `fields` are all that are signed, among them `host`,
  /// `x-amz-date` and `x-amz-content-sha256`, with names in lower case.
  func authorization(
    _ method: String, _ path: String, query: [(name: String, value: String)],
    fields: [(name: String, value: String)], digest: String
  ) -> String {
    let fields = fields.sorted { $0.name < $1.name }
    let names = fields.map(\.name).joined(separator: ";")
    let request = [
      method, path, Self.query(query), fields.map { "\($0.name):\($0.value)\n" }.joined(), names,
      digest,
    ].joined(separator: "\n")
    let date = String(time.prefix(8))
    let scope = "\(date)/\(region)/s3/aws4_request"
    let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Self.sha256(Array(request.utf8)))"
    let key = [date, region, "s3", "aws4_request"].reduce(Array("AWS4\(credentials.secret)".utf8)) {
      Self.hmac(key: $0, $1)
    }
    return "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope),SignedHeaders=\(names),"
      + "Signature=\(Self.hexadecimal(Self.hmac(key: key, text)))"
  }

  /// A query in the order and the encoding that are signed.
  static func query(_ items: [(name: String, value: String)]) -> String {
    items.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }
      .sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
  }

  /// A time in seconds since 1970 in the form of ``time``.
  static func time(_ seconds: Int) -> String {
    var (seconds, parts) = (seconds, tm())
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)\(digits(parts.tm_mon + 1))\(digits(parts.tm_mday))T"
      + "\(digits(parts.tm_hour))\(digits(parts.tm_min))\(digits(parts.tm_sec))Z"
  }

  static func sha256(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBytes { sha256($0) }
  }

  static func sha256(_ bytes: UnsafeRawBufferPointer) -> String {
    var digits = [CChar](repeating: 0, count: 65)
    copenssl_sha256_hex(bytes.baseAddress, bytes.count, &digits)
    return String(decoding: digits.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func hmac(key: [UInt8], _ text: String) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    let text = Array(text.utf8)
    copenssl_hmac_sha256(key, key.count, text, text.count, &code)
    return code
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
