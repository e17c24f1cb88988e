import Primitives

/// Why the server rejects a request before its responder has handled it.
package struct HTTPError: Error, Sendable, CustomStringConvertible {
  /// The response's status.
  package let status: Int
  /// A sentence a person can act on.
  package let detail: String

  /// The detail.
  package var description: String { detail }

  init(_ status: Int, _ detail: String) { (self.status, self.detail) = (status, detail) }

  /// The response to the request, a problem (RFC 9457).
  var response: Response {
    let wait: Fields =
      switch status {
      case 503: ["Retry-After": "1"]
      case 507: ["Retry-After": "30"]
      default: [:]
      }
    return .problem(status, detail, fields: wait)
  }

  static let noDescriptor = HTTPError(
    503, "The server has no file descriptors left; try again in a moment.")

  static func bodyTooLarge(limit: Int) -> HTTPError {
    HTTPError(413, "The body exceeds the limit of \(limit) bytes.")
  }
}

/// Why a server cannot start or cannot use a new certificate.
package struct ServerError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is.
  package enum Code: Sendable { case addressInUse, cannotListen, cannotStart, badCertificate }

  package let code: Code
  /// A sentence a person can act on.
  package let reason: String

  package var description: String { reason }

  static let noDescriptor = ServerError(
    code: .cannotStart,
    reason: "The HTTP server cannot start: the open-file limit (ulimit -n) is reached.")
}

/// What is wrong with a part of a request's body (RFC 9457, section 3, the example's `errors`).
package struct ProblemError: Sendable, Hashable {
  /// What is wrong, in a sentence.
  package let detail: String
  /// Where, as a JSON pointer in a URI fragment (RFC 6901, section 6): `#/expires`.
  package let pointer: String

  /// Describes what is wrong with a member of the body, or with a part of one, such as `actions[1].label` or
  /// `values["username:alice"].name`.
  package init(_ detail: String, member: String) {
    self.detail = detail
    // A name that is none of the API's may have any characters, and is one step of the path.
    let isPath =
      member.wholeMatch(of: /[A-Za-z]+(?:\[[0-9]+\]|\["[^"]+"\]|\.[A-Za-z0-9_-]+)*/) != nil
    let path =
      isPath
      ? member.matches(of: /"([^"]+)"|[A-Za-z0-9_-]+/).map { String($0.1 ?? $0.0) } : [member]
    pointer =
      "#"
      + path.map { "/" + $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined()
  }
}

/// Problem details (RFC 9457), and the reason phrases that are their titles.
enum ProblemDetails {
  /// The content of an `application/problem+json` response, one line of JSON.
  ///
  /// - Parameters:
  ///   - status: the HTTP status; its reason phrase is the title.
  ///   - code: what happened, for programs; nil for the reason phrase, as `not-found`.
  ///   - detail: a sentence a person can act on.
  ///   - errors: what is wrong with each part of the request's body.
  ///   - requestID: the request's ``Request/id``, by which its log lines can be found.
  /// - Returns: the JSON text.
  static func json(
    _ status: Int, code: String?, _ detail: String, errors: [ProblemError] = [], requestID: String
  ) -> [UInt8] {
    let title = reasonPhrase(of: status)
    let code = code ?? title.lowercased().replacing(" ", with: "-")
    let (quotedCode, quotedDetail) = (JSONText.quoted(code), JSONText.quoted(detail))
    let list = errors.map { error in
      "{\"detail\":\(JSONText.quoted(error.detail)),\"pointer\":\(JSONText.quoted(error.pointer))}"
    }
    let member = list.isEmpty ? "" : "\"errors\":[\(list.joined(separator: ","))],"
    return Array(
      """
      {"code":\(quotedCode),"detail":\(quotedDetail),\(member)"requestId":\(JSONText.quoted(requestID)),\
      "status":\(status),"title":\(JSONText.quoted(title)),"type":"about:blank"}

      """.utf8)
  }

  /// The reason phrase of a status code (RFC 9110, section 15).
  static func reasonPhrase(of status: Int) -> String { reasonPhrases[status] ?? "Error" }

  private static let reasonPhrases = [
    101: "Switching Protocols", 200: "OK", 201: "Created", 204: "No Content",
    206: "Partial Content", 302: "Found",
    303: "See Other", 304: "Not Modified", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict",
    410: "Gone", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
    415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
    421: "Misdirected Request", 422: "Unprocessable Content", 426: "Upgrade Required",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
    503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    507: "Insufficient Storage",
  ]
}
