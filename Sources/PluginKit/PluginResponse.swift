/// A plugin's response: a document, the unchanged asset, a file, a redirect or a refusal.
public struct PluginResponse: Sendable {
  /// The HTTP status for the caller.
  public var status: Int
  /// The header fields in order, including `Content-Type`.
  public var fields: [(name: String, value: String)]
  /// The content; empty when the field `X-Sendfile` names a file.
  public var body: [UInt8]

  /// A response with bytes.
  ///
  /// ```swift
  /// return .document(Array("Hello".utf8), type: "text/plain", fields: [("Cache-Control", "no-store")])
  /// ```
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - type: Its media type, one that the manifest's `produces` covers.
  ///   - fields: Further fields, such as `Cache-Control: no-store`, which keeps the server from storing the response.
  /// - Returns: The document with status 200.
  public static func document(
    _ bytes: [UInt8], type: String, fields: [(name: String, value: String)] = []
  ) -> Self {
    Self(status: 200, fields: [("Content-Type", type)] + fields, body: bytes)
  }

  /// A response with JSON text: the facts of a `validate`, or a document.
  ///
  /// ```swift
  /// return .json(#"{"pages": 3}"#)
  /// ```
  public static func json(_ text: String) -> Self {
    document(Array(text.utf8), type: "application/json")
  }

  /// A response with the unchanged asset, which the server sends without copying it.
  ///
  /// ```swift
  /// guard let asset = request.asset else { throw Refusal("The payload names no file.") }
  /// return .asset(type: asset.type)
  /// ```
  public static func asset(type: String) -> Self {
    Self(status: 200, fields: [("Content-Type", type), ("X-Sendfile", "asset")], body: [])
  }

  /// A response with a file in ``PluginRequest/temporaryFolder``.
  ///
  /// ```swift
  /// return .file(request.temporaryFolder + "/picture.png", type: "image/png")
  /// ```
  public static func file(_ path: String, type: String) -> Self {
    Self(status: 200, fields: [("Content-Type", type), ("X-Sendfile", path)], body: [])
  }

  /// A redirect to an absolute `http` or `https` URL, with status 302.
  ///
  /// ```swift
  /// return .redirect(to: "https://example.com/\(request.payload)")
  /// ```
  public static func redirect(to url: String) -> Self {
    Self(status: 302, fields: [("Location", url)], body: [])
  }

  /// A refusal with a sentence; throwing a ``Refusal`` does the same.
  ///
  /// ```swift
  /// return .refusal(415, "Only JPEG pictures can be used.")
  /// ```
  public static func refusal(_ status: Int, _ sentence: String) -> Self {
    Self(
      status: status, fields: [("Content-Type", "text/plain; charset=utf-8")],
      body: Array(sentence.utf8))
  }

  /// The response in the form of CGI: fields, an empty line, the content (RFC 3875 section 6).
  func encoded() -> [UInt8] {
    let isRedirect = fields.first?.name == "Location"
    var head = isRedirect ? "" : "Status: \(status)\r\n"
    for (name, value) in fields {
      // A line break could add another field.
      head += "\(name): \(String(value.map { $0.isNewline || $0 == "\0" ? " " : $0 }))\r\n"
    }
    return Array((head + "\r\n").utf8) + body
  }
}

/// The reason why a plugin refuses a request: an HTTP status and a sentence for people.
///
/// Throw it from the handler of ``serve(_:)``.
public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// One of 404, 410, 415, 422, 451 and 503; the server turns any other status into 502.
  public let status: Int
  /// What is wrong and how to fix it, without a trailing line break.
  public let sentence: String

  /// Text for the server's log only, such as a library's error message; nil for none.
  public let detail: String?

  /// The sentence.
  public var description: String { sentence }

  /// Creates a refusal; the default status says that the payload does not fit the rich type.
  public init(status: Int = 422, _ sentence: String, detail: String? = nil) {
    (self.status, self.sentence, self.detail) = (status, sentence, detail)
  }
}
