import Primitives

/// A request to the object store, as it is signed and sent.
struct S3Request: Sendable {
  /// The bytes that are sent.
  enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// A part of a file, read by offset.
    case file(FileDescriptor, offset: Int, count: Int)

    var count: Int {
      switch self {
      case .none: 0
      case .bytes(let bytes): bytes.count
      case .file(_, _, let count): count
      }
    }
  }

  var method: String
  var key: String?
  var query: [(name: String, value: String)] = []
  var body = Body.none
  /// The SHA-256 of the body.
  var digest = S3Signature.emptyDigest
  /// The file that a successful response's content is written to, from its present end.
  var target: FileDescriptor?
  /// The most bytes that are written to it.
  var limit = Int.max

  init(_ method: String, _ key: String? = nil) { (self.method, self.key) = (method, key) }
}

/// A response of the object store.
struct S3Response: Sendable {
  var status = 0
  /// What was not written to a file, up to ``limit`` bytes.
  var body: [UInt8] = []
  /// The `ETag` field.
  var tag: String?
  /// The `Last-Modified` field in seconds since 1970.
  var modified: Int?
  /// The `Content-Length` field.
  var length: Int?

  /// The most bytes of a body in memory: a page of a list has some 400 KB.
  static let limit = 4 << 20

  /// Whether the request may succeed if it is sent again.
  var isForeign: Bool { [408, 429, 500, 502, 503, 504].contains(status) }

  /// Why the object store refused a request for `key`, or nil.
  func error(_ bucket: S3Bucket) -> S3Error? {
    if 200..<300 ~= status { return nil }
    let document = XMLElements(body)
    let code = document["Code"] ?? ""
    let detail =
      "HTTP \(status)\(code.isEmpty ? "" : " \(code)")"
      + (document["Message"].map { ": \($0.prefix(200))" } ?? "")
    return switch (status, code) {
    case (404, "NoSuchBucket"):
      S3Error(
        .noSuchBucket,
        "the object store has no bucket \(bucket.name); create it, or correct --objects")
    case (404, _): S3Error(.noSuchKey, "there is no such object (\(detail))")
    case (_, "RequestTimeTooSkewed"):
      S3Error(.refused, "the clock of this machine and the object store's differ (\(detail))")
    case (401, _), (403, _):
      S3Error(
        .refused,
        "the object store refuses the access key, its secret, or what they are used for (\(detail))"
      )
    case (_, "BadDigest"), (_, "XAmzContentSHA256Mismatch"):
      S3Error(.damaged, "the object store received other bytes than were sent (\(detail))")
    case _ where isForeign: S3Error(.away, "the object store fails (\(detail))")
    default: S3Error(.failed, "the object store refuses a request (\(detail))")
    }
  }
}
