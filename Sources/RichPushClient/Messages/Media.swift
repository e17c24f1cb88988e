public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A notification's media, in memory.
public struct Media: Sendable, Equatable {
  /// The bytes.
  public let bytes: Data
  /// Their type as the server found it out, such as `image/jpeg`.
  public let contentType: String
  /// The name of exactly these bytes (RFC 9110 section 8.8.3), if the server gave one.
  public let etag: String?

  /// Media, as an app's own tests and previews need it.
  public init(bytes: Data, contentType: String, etag: String? = nil) {
    self.bytes = bytes
    self.contentType = contentType
    self.etag = etag
  }
}

/// A notification's media, in a temporary file.
public struct MediaFile: Sendable, Equatable {
  /// Where it is.
  public let url: URL
  /// Its type as the server found it out, such as `image/jpeg`.
  public let contentType: String
  /// The name of exactly these bytes (RFC 9110 section 8.8.3), if the server gave one.
  public let etag: String?

  init(url: URL, response: URLResponse) {
    let response = response as? HTTPURLResponse
    self.url = url
    contentType =
      response?.value(forHTTPHeaderField: "Content-Type") ?? "application/octet-stream"
    etag = response?.value(forHTTPHeaderField: "ETag")
  }
}
