/// A device's registration: the body of `PUT /api/register/<id>`, with the member names of the tutorial.
package struct Registration: Sendable, Encodable {
  /// The push service of the device, such as `apns`.
  package let platform: String
  /// The push token.
  package let handle: String
  /// Tags for audiences.
  package let tags: [String]

  /// Creates a registration.
  package init(platform: String, handle: String, tags: [String]) {
    (self.platform, self.handle, self.tags) = (platform, handle, tags)
  }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case platform = "Platform"
    case handle = "Handle"
    case tags = "Tags"
  }
}

extension Registration: RequestMessage {
  /// Decodes the members; the tutorial's server ignores the case of their names.
  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: MemberName.self)
    let keys = Dictionary(members.allKeys.map { ($0.stringValue.lowercased(), $0) }) { $1 }
    func value<Value: Decodable>(_ name: String) throws -> Value? {
      try keys[name].flatMap { try members.decodeIfPresent(Value.self, forKey: $0) }
    }
    platform = try value("platform") ?? ""
    handle = try value("handle") ?? ""
    tags = try value("tags") ?? []
  }

  package static func check(members: [String]) throws(ServiceError) {
    let known = CodingKeys.allCases.map(\.stringValue)
    let names = members.filter { name in !known.contains { $0.lowercased() == name.lowercased() } }
    try check(members: names, known: known)
  }
}

/// Whether pushes reach a device: the response to a registration.
package struct Deliverability: Sendable, Codable {
  /// The platform of the device.
  package let platform: String
  /// Whether a push service of the server sends to it.
  package let deliverable: Bool
  /// The push service.
  @Nullable package var service: String?
  /// Why there is no push service.
  @Nullable package var reason: String?

  /// Creates the response.
  package init(platform: String, service: String?, reason: String?) {
    (self.platform, deliverable) = (platform, service != nil)
    (self.service, self.reason) = (service, reason)
  }
}
