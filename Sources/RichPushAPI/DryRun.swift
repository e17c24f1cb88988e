/// What a notification would be: the response of `POST /api/notifications?dry-run`.
package struct DryRun: Sendable, Codable {
  /// Who would get it.
  package let audience: AudienceSize
  /// What each kind of device would show; none if the plugin renders for each user.
  package let renditions: [Rendition]
  /// What each platform's push would contain.
  package let texts: [Text]

  /// Creates the response.
  package init(audience: AudienceSize, renditions: [Rendition], texts: [Text]) {
    (self.audience, self.renditions, self.texts) = (audience, renditions, texts)
  }

  /// The rendition of a profile.
  package struct Rendition: Sendable, Codable {
    /// Whether there is one.
    package enum Status: String, Sendable, Codable { case ready, refused }

    /// The profile.
    package let profile: String
    /// Whether there is one.
    package let status: Status
    /// Why there is none.
    @Nullable package var reason: String?
    /// Its media type.
    @Nullable package var contentType: String?
    /// Its size in bytes.
    @Nullable package var bytes: Int?
    /// The largest size in bytes.
    package let limit: Int
    /// Its path on the server, if the payload is an asset.
    @Nullable package var url: String?

    /// Describes a rendition; the optional members can be set afterwards.
    package init(profile: String, status: Status, limit: Int) {
      (self.profile, self.status, self.limit) = (profile, status, limit)
    }
  }

  /// The push to a platform.
  package struct Text: Sendable, Codable {
    /// `apns`, `webpush` or `fcm`.
    package let platform: String
    /// The message as it is shown.
    package let body: String
    /// The size of the payload in bytes.
    package let bytes: Int
    /// The largest size in bytes.
    package let limit: Int
    /// Whether the message was cut to fit.
    package let cut: Bool
    /// The payload; the notification's ID is the one that is expected.
    package let payload: JSONValue

    /// Describes a push.
    package init(
      platform: String, body: String, bytes: Int, limit: Int, cut: Bool, payload: JSONValue
    ) {
      (self.platform, self.body, self.bytes) = (platform, body, bytes)
      (self.limit, self.cut, self.payload) = (limit, cut, payload)
    }
  }
}
