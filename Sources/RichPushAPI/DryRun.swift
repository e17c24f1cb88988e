#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a notification would be: the response of `POST /api/notifications?dry-run`.
public struct DryRun: Sendable, Equatable, Codable {
  /// Who would get it.
  public let audience: AudienceSize
  /// What each kind of device would show; none if the plugin renders for each user.
  public let renditions: [Rendition]
  /// What each platform's push would contain.
  public let texts: [Text]
  /// Where screens cut the message, in sentences.
  public let warnings: [String]
  /// Who would be left out for want of a value; nil if nobody would be.
  public var skipped: Skipped?
  /// When they would get it, if it has a local time.
  public var times: Times?

  /// Creates the response.
  package init(
    audience: AudienceSize, renditions: [Rendition], texts: [Text], warnings: [String]
  ) {
    (self.audience, self.renditions, self.texts) = (audience, renditions, texts)
    self.warnings = warnings
  }

  /// Users who are left out, because they have no value for a placeholder.
  public struct Skipped: Sendable, Equatable, Codable {
    /// How many.
    public let count: Int
    /// The first of them, at most 100.
    public let users: [User]

    /// Creates the list.
    package init(count: Int, users: [User]) { (self.count, self.users) = (count, users) }

    /// A user who is left out.
    public struct User: Sendable, Equatable, Codable {
      /// The user's name.
      public let username: String
      /// A placeholder that has no value for the user.
      public let placeholder: String

      /// Names a user.
      package init(username: String, placeholder: String) {
        (self.username, self.placeholder) = (username, placeholder)
      }
    }
  }

  /// When the recipients of a notification with a local time, or of which only so many get it in a minute, would get it.
  public struct Times: Sendable, Equatable, Codable {
    /// When the first would get it, which may have passed.
    public let first: Date
    /// When the last would get it.
    public let last: Date
    /// The users for whom the local time has passed, who would get it at once.
    public let passed: Int

    /// Creates the times.
    package init(first: Date, last: Date, passed: Int) {
      (self.first, self.last, self.passed) = (first, last, passed)
    }
  }

  /// The rendition of a profile.
  public struct Rendition: Sendable, Equatable, Codable {
    /// Whether there is one.
    public enum Status: String, Sendable, Codable {
      /// It can be fetched.
      case ready
      /// The plugin has refused the content.
      case refused
    }

    /// The profile.
    public let profile: String
    /// Whether there is one.
    public let status: Status
    /// Why there is none.
    @Nullable public var reason: String?
    /// Its media type.
    @Nullable public var contentType: String?
    /// Its size in bytes.
    @Nullable public var bytes: Int?
    /// The largest size in bytes.
    public let limit: Int
    /// Its path on the server, if the payload is an asset.
    @Nullable public var url: String?
    /// The content in base64, if the payload is no asset and this has at most 65,536 bytes.
    @Nullable public var data: String?

    /// Describes a rendition; the optional members can be set afterwards.
    package init(profile: String, status: Status, limit: Int) {
      (self.profile, self.status, self.limit) = (profile, status, limit)
    }
  }

  /// The push to a platform.
  public struct Text: Sendable, Equatable, Codable {
    /// `apns`, `webpush` or `fcm`.
    public let platform: String
    /// The language that its texts are in, if the notification has several.
    public var language: String?
    /// The message as it is shown, to the first of the recipients.
    public let body: String
    /// The size of the payload in bytes.
    public let bytes: Int
    /// The largest size in bytes.
    public let limit: Int
    /// Whether the message was cut to fit.
    public let cut: Bool
    /// The members of the message that the platform shows or follows by itself.
    public let shown: [String]
    /// The members that only the app's own code can use.
    public let carried: [String]
    /// The members that do not reach the device.
    public let dropped: [String]
    /// What its devices can report; nothing if it can't be measured whether they showed it or it was opened.
    public let reports: [Interaction.Event]
    /// The payload; the notification's ID is the one that is expected.
    public let payload: JSONValue

    /// Describes a push.
    package init(
      platform: String, body: String, bytes: Int, limit: Int, cut: Bool,
      members: PlatformMembers, payload: JSONValue
    ) {
      (self.platform, self.body, self.bytes) = (platform, body, bytes)
      (self.limit, self.cut, self.payload) = (limit, cut, payload)
      (shown, carried, dropped) = (members.shown, members.carried, members.dropped)
      reports = members.reports
    }
  }
}

/// What a platform makes of the members of a message.
public struct PlatformMembers: Sendable, Equatable, Codable {
  /// `apns`, `webpush` or `fcm`.
  public let platform: String
  /// The members that it shows or follows by itself.
  public let shown: [String]
  /// The members that only the app's own code can use.
  public let carried: [String]
  /// The members that do not reach the device.
  public let dropped: [String]
  /// What its devices can report; nothing if it can't be measured whether they showed it or it was opened.
  public let reports: [Interaction.Event]

  /// Describes a platform.
  package init(
    platform: String, shown: [String], carried: [String], dropped: [String],
    reports: [Interaction.Event]
  ) {
    (self.platform, self.shown) = (platform, shown)
    (self.carried, self.dropped, self.reports) = (carried, dropped, reports)
  }
}
