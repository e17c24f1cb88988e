import FoundationEssentials

/// What `application/problem+json` says (RFC 9457).
package struct Problem: Sendable {
  /// The HTTP status; its phrase is the title.
  package let status: Int
  /// A sentence a person can act on.
  package let detail: String

  private struct Members: Encodable {
    let type = "about:blank"
    let title: String
    let status: Int
    let detail: String
    let requestId: String?
  }

  /// The text, a line of JSON, with the name that the request has in the log.
  func bytes(request id: String?) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let members = Members(
      title: Self.title(of: status), status: status, detail: detail, requestId: id)
    return [UInt8]((try? encoder.encode(members)) ?? Data("{}".utf8)) + [UInt8(ascii: "\n")]
  }

  /// The phrase that belongs to a status (RFC 9110, section 15).
  static func title(of status: Int) -> String { titles[status] ?? "Error" }

  private static let titles = [
    100: "Continue", 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content",
    206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
    304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
    411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
    414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
    417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content",
    424: "Failed Dependency",
    428: "Precondition Required", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
    503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    507: "Insufficient Storage",
  ]
}
