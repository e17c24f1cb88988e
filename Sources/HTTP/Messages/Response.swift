import FoundationEssentials

/// An answer: status, fields and body.
///
/// Date, Content-Length and `nosniff` are added when it is sent.
package struct Response: Sendable {
  package var status: Int
  package var fields: Fields
  package var body: ResponseBody

  /// A response of these parts.
  package init(_ status: Int = 200, fields: Fields = Fields(), body: ResponseBody = .empty) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// A response without a body.
  package static func empty(_ status: Int, fields: Fields = Fields()) -> Response {
    Response(status, fields: fields)
  }

  /// A value as a line of JSON: sorted keys, slashes as they are, RFC 3339 times.
  package static func json(
    _ status: Int = 200, _ value: some Encodable & Sendable, fields: Fields = Fields()
  ) -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    guard let text = try? encoder.encode(value) else {
      return .problem(500, "The answer could not be written as JSON.")
    }
    var fields = fields
    if fields["Cache-Control"] == nil { fields["Cache-Control"] = "no-store" }
    return bytes(
      status, [UInt8](text) + [UInt8(ascii: "\n")], type: "application/json", fields: fields)
  }

  /// Plain text in UTF-8.
  package static func text(_ status: Int = 200, _ text: String, fields: Fields = Fields())
    -> Response
  {
    bytes(status, Array(text.utf8), type: "text/plain; charset=utf-8", fields: fields)
  }

  /// Bytes of a media type.
  package static func bytes(
    _ status: Int = 200, _ bytes: [UInt8], type: String, fields: Fields = Fields()
  ) -> Response {
    var fields = fields
    fields["Content-Type"] = type
    return Response(status, fields: fields, body: .bytes(bytes))
  }

  /// A file that never changes, with everything RFC 9110 asks of it.
  package static func content(_ content: Content, fields: Fields = Fields()) -> Response {
    Response(200, fields: fields, body: .content(content))
  }

  /// A stream of server-sent events that lasts until either side closes it.
  package static func events(_ source: any EventSource) -> Response {
    Response(200, body: .events(source))
  }

  /// An error as `application/problem+json` (RFC 9457).
  ///
  /// - Parameters:
  ///   - status: the HTTP status; its phrase is the title.
  ///   - detail: a sentence a person can act on.
  ///   - fields: further fields, such as `Retry-After`.
  /// - Returns: the response; it is never to be stored by caches.
  package static func problem(
    _ status: Int, _ detail: String, fields: Fields = Fields()
  ) -> Response {
    var response = Response(
      status, fields: fields, body: .problem(Problem(status: status, detail: detail)))
    response.fields["Content-Type"] = "application/problem+json"
    if response.fields["Cache-Control"] == nil { response.fields["Cache-Control"] = "no-store" }
    return response
  }
}

/// What a response carries.
package enum ResponseBody: Sendable {
  case empty
  /// An error; the request's name is added to it when it is sent.
  case problem(Problem)
  case bytes([UInt8])
  case content(Content)
  case events(any EventSource)
}
