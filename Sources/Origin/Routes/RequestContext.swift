import FoundationEssentials
import RichPushAPI
import HTTP

/// A request with its caller, path parameters and body, for a route's handler.
struct RequestContext: Sendable {
  let request: Request
  let caller: Caller
  /// The caller's login; nil for a route that needs no credentials.
  var login: Login?
  /// The path's variable segments, in order.
  let parameters: [String]
  /// What the store told of the fetch while the caller was verified.
  var fetch: FetchRecord?
  /// The body; empty for routes without one.
  var body: [UInt8] = []
  /// The body of a route that receives a file.
  var file: SavedBody?

  /// The body in memory, also if it was received as a file.
  func bytes() throws -> [UInt8] {
    try file.map { Array(try Data(contentsOf: URL(filePath: $0.path))) } ?? body
  }

  /// The form in the body.
  ///
  /// - Throws: if it is malformed.
  func form() throws -> MultipartForm {
    try MultipartForm(bytes(), type: request.fields["Content-Type"] ?? "")
  }

  /// The registration of the device: that of its token or, with a password, the one it claims to be; the
  /// store checks its owner.
  var device: String? {
    if let device = caller.device { return device }
    guard let id = request.fields["Richpush-Device"], (1...64).contains(id.utf8.count) else {
      return nil
    }
    return id
  }

  /// Whether `Accept` names JSON explicitly; `*/*` does not.
  var acceptsJSON: Bool { accepts("application/json") }

  /// Whether `Accept` names a media type explicitly (RFC 9110, section 12.5.1).
  func accepts(_ mediaType: String) -> Bool {
    (request.fields["Accept"] ?? "").split(separator: ",").contains { range in
      let type = range.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
      return type.lowercased() == mediaType
    }
  }

  /// The languages that the client prefers (RFC 9110, section 12.5.4), the best first.
  var languages: [String] { LanguageTag.ranges(of: request.fields["Accept-Language"]) }

  /// The notification ID in the path.
  func notificationID() throws(ServiceError) -> Int {
    guard let id = Self.notificationID(parameters) else { throw ServiceError.noSuchNotification }
    return id
  }

  /// The notification ID among a path's variable segments: a decimal number.
  static func notificationID(_ parameters: [String]) -> Int? {
    guard let text = parameters.first, let id = Int(text), ids.contains(id), String(id) == text
    else { return nil }
    return id
  }

  /// What IDs may be in paths and queries: numbers that all readers of JSON read exactly (RFC 8259, section 6).
  static let ids = 0...(1 << 53) - 1

  /// The query's parameters.
  ///
  /// - Throws: `ServiceError` if one is not among `names`, or is repeated.
  func query(_ names: String...) throws(ServiceError) -> [String: String] {
    var values: [String: String] = [:]
    for (name, value) in request.query.items {
      guard names.contains(name) else {
        throw ServiceError(unknown: "query parameter", name, among: names)
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw ServiceError(.invalidRequest, "The query parameter \(name) is given twice.")
      }
    }
    return values
  }

  /// The version of something that `If-Match` names; nil for any (RFC 9110, section 13.1.1).
  func version(of what: String) throws(ServiceError) -> Int? {
    guard let text = request.fields["If-Match"], text != "*" else { return nil }
    guard let match = text.wholeMatch(of: /"([0-9]{1,18})"/), let version = Int(match.1) else {
      throw ServiceError(
        .preconditionFailed, "If-Match must be * or the ETag of the \(what), not \(text.quoted).")
    }
    return version
  }
}

extension [String: String] {
  /// The whole number that a query parameter has; nil if it is absent.
  func number(_ name: String, _ range: ClosedRange<Int>) throws(ServiceError) -> Int? {
    guard let text = self[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw ServiceError(
        .invalidRequest,
        "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }
}

extension Response {
  /// A message as a line of JSON.
  static func json(
    _ status: Int, _ message: some Encodable, fields: Fields = Fields()
  ) -> Response {
    json(status, JSONCoding.encode(message), fields: fields)
  }
}
