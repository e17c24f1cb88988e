import RichPushAPI
import HTTP

/// A request with its caller, its path's parameters and its body, as a route's handler gets it.
struct RequestContext: Sendable {
  let request: Request
  let caller: Caller
  /// The path's variable segments, in order.
  let parameters: [String]
  /// The body; empty for routes that take none.
  var body: [UInt8] = []
  /// The body of a route that takes a file.
  var file: SavedBody?

  /// The registration that the device names, if any; the store checks whose it is.
  var device: String? {
    guard let id = request.fields["Richpush-Device"], (1...64).contains(id.utf8.count) else {
      return nil
    }
    return id
  }

  /// Whether the client names JSON as what it takes (RFC 9110, section 12.5.1); `*/*` does not name it.
  var acceptsJSON: Bool {
    (request.fields["Accept"] ?? "").split(separator: ",").contains { range in
      let type = range.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
      return type.lowercased() == "application/json"
    }
  }

  /// The notification id in the path: a decimal number that fits int32.
  func notificationID() throws(ServiceError) -> Int {
    guard let text = parameters.first, let id = Int32(text), id >= 0, String(id) == text else {
      throw ServiceError.noSuchNotification
    }
    return Int(id)
  }

  /// The query's parameters, when they are all among `names`.
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
}

extension Response {
  /// A value as a line of JSON, written without the detour over `Encodable`.
  static func json(_ status: Int, _ value: JSON, fields: Fields = Fields()) -> Response {
    var fields = fields
    if fields["Cache-Control"] == nil { fields["Cache-Control"] = "no-store" }
    return bytes(
      status, value.bytes + [UInt8(ascii: "\n")], type: "application/json", fields: fields)
  }
}
