/// A response: status, fields and body.
///
/// Date, Content-Length and `X-Content-Type-Options: nosniff` are added when it is sent.
package struct Response: Sendable {
  package var status: Int
  package var fields: Fields
  package var body: ResponseBody
  /// The same response, if it may be sent again.
  package var cached: (any CachedResponse)?

  /// A response of these parts.
  package init(_ status: Int = 200, fields: Fields = Fields(), body: ResponseBody = .empty) {
    (self.status, self.fields, self.body) = (status, fields, body)
  }

  /// A response without a body.
  package static func empty(_ status: Int, fields: Fields = Fields()) -> Response {
    Response(status, fields: fields)
  }

  /// A line of JSON, not to be stored by caches.
  package static func json(
    _ status: Int = 200, _ text: [UInt8], fields: Fields = Fields()
  ) -> Response {
    bytes(status, text + [UInt8(ascii: "\n")], type: "application/json", fields: fields).notStored
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

  /// An immutable file, with the conditional requests and ranges of RFC 9110, sections 13 and 14.
  package static func content(_ content: Content, fields: Fields = Fields()) -> Response {
    Response(200, fields: fields, body: .content(content))
  }

  /// A stream of events, open until the client or the source closes it.
  package static func events(_ source: any EventSource) -> Response {
    Response(200, body: .events(source))
  }

  /// An error as `application/problem+json` (RFC 9457), not to be stored by caches.
  ///
  /// - Parameters:
  ///   - status: the HTTP status; its reason phrase is the title.
  ///   - detail: a sentence a person can act on.
  ///   - code: what happened, for programs; by default the reason phrase as `not-found`.
  ///   - errors: what is wrong with each part of the request's body.
  ///   - fields: further fields, such as `Retry-After`.
  /// - Returns: the response.
  package static func problem(
    _ status: Int, _ detail: String, code: String? = nil, errors: [ProblemError] = [],
    fields: Fields = Fields()
  ) -> Response {
    let body = ResponseBody.problem(code: code, detail: detail, errors: errors)
    var response = Response(status, fields: fields, body: body)
    response.fields["Content-Type"] = "application/problem+json"
    return response.notStored
  }

  /// The reason phrase of a status (RFC 9110, section 15).
  package static func reason(of status: Int) -> String { ProblemDetails.reasonPhrase(of: status) }

  /// The same response with `Cache-Control: no-store`, unless it has another Cache-Control.
  private var notStored: Response {
    var response = self
    if fields["Cache-Control"] == nil { response.fields["Cache-Control"] = "no-store" }
    return response
  }
}

/// The body of a response.
package enum ResponseBody: Sendable {
  case empty
  /// An error, sent as ``ProblemDetails``.
  case problem(code: String?, detail: String, errors: [ProblemError] = [])
  case bytes([UInt8])
  case content(Content)
  case events(any EventSource)
}
