import CMicroHTTPD

/// The members of `application/problem+json` (RFC 9457).
struct Problem: Encodable {
  let type: String
  let status: Int
  let detail: String
  let members: [String: String]

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for (name, value) in members {
      try container.encode(value, forKey: Key(stringValue: name))
    }
    try container.encode(type, forKey: Key(stringValue: "type"))
    try container.encode(Self.title(of: status), forKey: Key(stringValue: "title"))
    try container.encode(status, forKey: Key(stringValue: "status"))
    try container.encode(detail, forKey: Key(stringValue: "detail"))
  }

  /// The phrase that belongs to a status (MHD_get_reason_phrase_for).
  static func title(of status: Int) -> String {
    MHD_get_reason_phrase_for(UInt32(status)).map { String(cString: $0) } ?? "Error"
  }
}
