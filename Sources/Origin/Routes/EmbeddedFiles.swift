import COpenSSL
import CZlib
import Glibc
import HTTP
import RichPushAPI
import Synchronization

/// Files that the build embeds in the program: a page with its scripts.
struct EmbeddedFiles: Sendable {
  /// A file as it is or as gzip, with its entity tag.
  private struct Form: Sendable {
    let etag: String
    let response: Response
  }

  private final class File: Sendable {
    let plain: Form
    private let bytes: [UInt8]
    // Made when it is first asked for, so that the server starts sooner.
    private let gzip = Mutex<Form?>(nil)

    init(_ plain: Form, _ bytes: [UInt8]) { (self.plain, self.bytes) = (plain, bytes) }

    /// The file as gzip (RFC 1952); as it is if it is a picture, or there is no memory.
    var compressed: Form {
      if plain.response.fields["Content-Type"] == "image/png" { return plain }
      return gzip.withLock { gzip in
        if let gzip { return gzip }
        var size = 0
        guard let data = czlib_gzip(bytes, bytes.count, &size) else { return plain }
        defer { free(data) }
        let etag = plain.etag + "-gzip"
        var fields = plain.response.fields
        fields["ETag"] = "\"\(etag)\""
        fields["Content-Encoding"] = "gzip"
        let response = Response.bytes(
          200, Array(UnsafeBufferPointer(start: data, count: size)),
          type: fields["Content-Type"] ?? "", fields: fields)
        gzip = Form(etag: etag, response: response)
        return Form(etag: etag, response: response)
      }
    }
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
          "Vary": "Accept-Encoding",
        ])
      return (name, File(Form(etag: etag, response: response), bytes))
    }
    self.files = Dictionary(uniqueKeysWithValues: described)
  }

  /// The SHA-256 of content, in hexadecimal.
  static func tag(of bytes: [UInt8]) -> String {
    var hex = [CChar](repeating: 0, count: 65)
    copenssl_sha256_hex(bytes, bytes.count, &hex)
    return String(decoding: hex.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The file of this name, as gzip if the client takes it; 304 if the client has it.
  ///
  /// - Throws: `notFound`.
  func response(for name: String, to request: Request) throws(ServiceError) -> Response {
    guard let file = files[name] else {
      throw ServiceError(.notFound, "There is no file of this name.")
    }
    let form = request.acceptsGzip ? file.compressed : file.plain
    guard request.has(etag: form.etag) else { return form.response }
    var fields = form.response.fields
    (fields["Content-Type"], fields["Content-Encoding"]) = (nil, nil)
    return .empty(304, fields: fields)
  }
}

extension HTTP.Request {
  /// Whether the client takes content as gzip (RFC 9110, section 12.5.3).
  fileprivate var acceptsGzip: Bool {
    (fields["Accept-Encoding"] ?? "").lowercased().split(separator: ",").contains { coding in
      let parts = coding.split(separator: ";").map { $0.filter { $0 != " " } }
      let isRefused = parts.dropFirst().contains { $0.wholeMatch(of: /q=0(\.0*)?/) != nil }
      return parts.first == "gzip" && !isRefused
    }
  }
}
