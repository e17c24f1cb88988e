import HTTP

extension Response {
  /// A value as a line of JSON, written without the detour over `Encodable`.
  static func json(_ status: Int, _ value: JSONValue, fields: Fields = Fields()) -> Response {
    var fields = fields
    if fields["Cache-Control"] == nil { fields["Cache-Control"] = "no-store" }
    return bytes(
      status, value.bytes + [UInt8(ascii: "\n")], type: "application/json", fields: fields)
  }
}
