/// A device's registration: the body of `PUT /api/register/<id>`, with the member names of the tutorial.
package struct Registration: Sendable, Encodable {
  /// The push service of the device, such as `apns`.
  package let platform: String
  /// The push token.
  package let handle: String
  /// Tags for audiences; nil leaves them as they are.
  package let tags: [String]?
  /// The keys of a Web Push subscription.
  package let keys: Keys?
  /// What the device calls itself, for lists of devices.
  package let name: String?
  /// The language that the device prefers (BCP 47), such as `de-CH`.
  package let language: String?
  /// The time zone that the device is in, by its name in the IANA's database, such as `Europe/Zurich`.
  package let timeZone: String?
  /// When pushes wait; nil leaves it as it is.
  package var quietHours: QuietHours?

  /// The keys of a Web Push subscription (RFC 8291), in base64url.
  package struct Keys: Sendable, Codable {
    /// The public key, a point on P-256.
    package let p256dh: String
    /// The authentication secret.
    package let auth: String

    /// Creates the keys.
    package init(p256dh: String, auth: String) { (self.p256dh, self.auth) = (p256dh, auth) }
  }

  /// Creates a registration.
  package init(
    platform: String, handle: String, tags: [String]?, keys: Keys? = nil, name: String? = nil,
    language: String? = nil, timeZone: String? = nil
  ) {
    (self.platform, self.handle, self.tags, self.keys) = (platform, handle, tags, keys)
    (self.name, self.language, self.timeZone) = (name, language, timeZone)
  }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case platform = "Platform"
    case handle = "Handle"
    case tags = "Tags"
    case keys = "Keys"
    case name = "Name"
    case language = "Language"
    case timeZone = "TimeZone"
    case quietHours = "QuietHours"
  }
}

extension Registration: RequestMessage {
  /// Decodes the members; the tutorial's server ignores the case of their names.
  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: MemberName.self)
    let names = Dictionary(members.allKeys.map { ($0.stringValue.lowercased(), $0) }) { $1 }
    func value<Value: Decodable>(_ name: String) throws -> Value? {
      try names[name].flatMap { try members.decodeIfPresent(Value.self, forKey: $0) }
    }
    platform = try value("platform") ?? ""
    handle = try value("handle") ?? ""
    tags = try value("tags")
    keys = try value("keys")
    name = try value("name")
    (language, timeZone) = (try value("language"), try value("timezone"))
    quietHours = try value("quiethours")
  }

  package static func check(members: [String]) throws(ServiceError) {
    let known = CodingKeys.allCases.map(\.stringValue)
    let names = members.filter { name in !known.contains { $0.lowercased() == name.lowercased() } }
    try check(members: names, known: known)
  }
}

/// The key with which pages subscribe: the response of `GET /api/push/vapid`.
package struct ApplicationServerKey: Sendable, Codable {
  /// The public key of RFC 8292, in base64url.
  package let key: String

  /// Creates the response.
  package init(key: String) { self.key = key }
}

/// A new token of a device.
package struct IssuedToken: Sendable, Codable {
  /// What the device sends as `Authorization: Bearer`.
  package let token: String

  /// Creates the response.
  package init(token: String) { self.token = token }
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
