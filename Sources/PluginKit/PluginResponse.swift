/// A plugin's answer: a document, the asset as it is, a file, a redirect or a refusal.
public struct PluginResponse: Sendable {
  /// The HTTP status the caller gets.
  public var status: Int
  /// The header fields in order, `Content-Type` among them.
  public var fields: [(name: String, value: String)]
  /// The content; empty when a field such as `X-Sendfile` names it.
  public var body: [UInt8]

  /// Answers with bytes.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - type: Its media type, one that the manifest's `produces` covers.
  ///   - fields: Further fields, such as `Cache-Control: no-store` to keep the answer unstored.
  /// - Returns: The document with status 200.
  public static func document(
    _ bytes: [UInt8], type: String, fields: [(name: String, value: String)] = []
  ) -> Self {
    Self(status: 200, fields: [("Content-Type", type)] + fields, body: bytes)
  }

  /// Answers with JSON text: the facts of a `validate`, or a document of that type.
  public static func json(_ text: String) -> Self {
    document(Array(text.utf8), type: "application/json")
  }

  /// Answers with the pinned asset, byte for byte; the server sends it without copying.
  public static func asset(type: String) -> Self {
    Self(status: 200, fields: [("Content-Type", type), ("X-Sendfile", "asset")], body: [])
  }

  /// Answers with a file written under ``PluginRequest/temporaryFolder``.
  public static func file(_ path: String, type: String) -> Self {
    Self(status: 200, fields: [("Content-Type", type), ("X-Sendfile", path)], body: [])
  }

  /// Sends the caller to an absolute `http` or `https` URL, with status 302.
  public static func redirect(to url: String) -> Self {
    Self(status: 302, fields: [("Location", url)], body: [])
  }

  /// Refuses with a sentence; throwing a ``Refusal`` does the same from anywhere inside.
  public static func refusal(_ status: Int, _ sentence: String) -> Self {
    Self(
      status: status, fields: [("Content-Type", "text/plain; charset=utf-8")],
      body: Array(sentence.utf8))
  }

  /// The answer as CGI writes it: fields, an empty line, the content (RFC 3875 section 6).
  ///
  /// A line break in a field would forge another one; it becomes a space.
  func encoded() -> [UInt8] {
    let isRedirect = fields.first?.name == "Location"
    var head = isRedirect ? "" : "Status: \(status)\r\n"
    for (name, value) in fields {
      head += "\(name): \(String(value.map { $0.isNewline || $0 == "\0" ? " " : $0 }))\r\n"
    }
    return Array((head + "\r\n").utf8) + body
  }
}
