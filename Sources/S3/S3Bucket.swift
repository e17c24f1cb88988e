import Primitives

/// A bucket of an S3-compatible object store, addressed by path (`https://host/bucket/key`).
package struct S3Bucket: Sendable {
  /// The scheme and the authority of the store, such as `https://s3.example:9000`.
  package let endpoint: String
  /// The name of the bucket.
  package let name: String
  /// What all keys begin with: empty, or a path that ends with a slash.
  package let prefix: String
  /// The region that requests are signed for.
  package let region: String

  /// Parses `s3://bucket[/prefix]?endpoint=https://host[:port]&region=name`.
  ///
  /// Without an endpoint it is Amazon's of the region; the default region is `us-east-1`.
  package init(_ url: String) throws(S3Error) {
    let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts[0].hasPrefix("s3://") else { throw Self.malformed(url) }
    let path = parts[0].dropFirst(5).split(separator: "/")
    guard let bucket = path.first, Self.isName(bucket), path.dropFirst().allSatisfy(Self.isName)
    else { throw Self.malformed(url) }
    var (endpoint, region): (String?, String) = (nil, "us-east-1")
    for item in parts.dropFirst().first?.split(separator: "&") ?? [] {
      let pair = item.split(separator: "=", maxSplits: 1).map { part in
        PercentEncoding.decode(Array(part.utf8).span) ?? ""
      }
      switch (pair.first, pair.count) {
      case ("endpoint", 2): endpoint = pair[1]
      case ("region", 2): region = pair[1]
      default:
        throw S3Error(
          .invalid,
          "the object store's URL may have only endpoint and region, not \(pair.first ?? "")")
      }
    }
    guard Self.isName(region) else { throw Self.malformed(url) }
    (name, self.region) = (String(bucket), region)
    prefix = path.dropFirst().map { "\($0)/" }.joined()
    self.endpoint = try Self.origin(endpoint ?? "https://s3.\(region).amazonaws.com")
  }

  /// The authority, which is the `Host` field and signed.
  var host: String { endpoint.split(separator: "/").last.map(String.init) ?? "" }

  /// The path of an object, or of the bucket.
  func path(_ key: String?) -> String {
    let key = key.map {
      "/" + (prefix + $0).split(separator: "/").map(Self.encode).joined(separator: "/")
    }
    return "/\(Self.encode(name[...]))\(key ?? "")"
  }

  private static func encode(_ text: Substring) -> String { PercentEncoding.encode(String(text)) }

  /// Only what no part of a URL escapes.
  private static func isName(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text != "." && text != ".."
      && text.utf8.allSatisfy { $0.isAlphanumeric || "-._".utf8.contains($0) }
  }

  private static func origin(_ text: String) throws(S3Error) -> String {
    let text = text.hasSuffix("/") ? text.dropLast() : text[...]
    let host = text.hasPrefix("https://") ? text.dropFirst(8) : text.dropFirst(7)
    guard text.hasPrefix("https://") || text.hasPrefix("http://"), !host.isEmpty,
      host.utf8.allSatisfy({ $0.isAlphanumeric || "-._:[]".utf8.contains($0) })
    else {
      throw S3Error(
        .invalid,
        "the object store's endpoint must be a URL such as https://s3.example, not \(text)")
    }
    return String(text)
  }

  private static func malformed(_ url: String) -> S3Error {
    S3Error(
      .invalid,
      "the object store is s3://bucket?endpoint=https://host&region=name, not "
        + (url.split(separator: "?").first.map(String.init) ?? "empty"))
  }
}

/// What requests are signed with.
package struct S3Credentials: Sendable, CustomStringConvertible {
  let accessKey: String
  let secret: String

  /// The ID of an access key, and its secret.
  package init(accessKey: String, secret: String) {
    (self.accessKey, self.secret) = (accessKey, secret)
  }

  /// Not the secret.
  package var description: String { "the access key \(accessKey)" }
}

/// Why the object store did not do something.
package struct S3Error: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of failure a caller can tell apart.
  package enum Code: Sendable, Equatable {
    /// The options are wrong.
    case invalid
    /// It cannot be reached, or has no answer within the deadline; it may work later.
    case away
    /// It refuses the credentials, or what they are used for.
    case refused
    /// There is no such object.
    case noSuchKey
    /// There is no such bucket.
    case noSuchBucket
    /// A file on this machine could not be read or written; `errno` tells why.
    case file(Int32)
    /// What arrived is not what was sent.
    case damaged
    /// Anything else.
    case failed
  }

  /// The kind of failure.
  package let code: Code
  /// A sentence a person can act on.
  package let reason: String

  init(_ code: Code, _ reason: String) { (self.code, self.reason) = (code, reason) }

  /// The reason.
  package var description: String { reason }
}
