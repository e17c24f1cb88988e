import CMicroHTTPD
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

  /// The phrase that belongs to a status (MHD_get_reason_phrase_for).
  static func title(of status: Int) -> String {
    MHD_get_reason_phrase_for(UInt32(status)).map { String(cString: $0) } ?? "Error"
  }
}
