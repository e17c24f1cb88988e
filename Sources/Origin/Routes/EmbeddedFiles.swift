import CGnuTLS
import HTTP
import RichPushAPI

/// Files that the build embeds in the program: a page with its scripts.
struct EmbeddedFiles: Sendable {
  private struct File: Sendable {
    let etag: String
    let response: Response
  }

  private static let types = [
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
    "png": "image/png", "webmanifest": "application/manifest+json",
  ]

  private let files: [String: File]

  /// The files of some modules by their names; `policy` is the Content-Security-Policy of each.
  init(_ files: KeyValuePairs<String, [UInt8]>..., policy: String) {
    self.init(files.joined().map { (name: $0.key, bytes: $0.value) }, policy: policy)
  }

  /// These files; `policy` is the Content-Security-Policy of each.
  init(_ files: [(name: String, bytes: [UInt8])], policy: String) {
    let described = files.map { name, bytes in
      let etag = Self.tag(of: bytes)
      let type = name.split(separator: ".").last.flatMap { Self.types[String($0)] }
      let response = Response.bytes(
        200, bytes, type: type ?? "application/octet-stream",
        fields: [
          "ETag": "\"\(etag)\"", "Cache-Control": "no-cache", "Content-Security-Policy": policy,
          "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
        ])
      return (name, File(etag: etag, response: response))
    }
    self.files = Dictionary(uniqueKeysWithValues: described)
  }

  /// The SHA-256 of content, in hexadecimal.
  static func tag(of bytes: [UInt8]) -> String {
    var hex = [CChar](repeating: 0, count: 65)
    cgnutls_sha256_hex(bytes, bytes.count, &hex)
    return String(decoding: hex.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The file of this name; 304 if the client has it.
  ///
  /// - Throws: `notFound`.
  func response(for name: String, to request: Request) throws(ServiceError) -> Response {
    guard let file = files[name] else {
      throw ServiceError(.notFound, "There is no file of this name.")
    }
    guard request.has(etag: file.etag) else { return file.response }
    var fields = file.response.fields
    fields["Content-Type"] = nil
    return .empty(304, fields: fields)
  }
}
