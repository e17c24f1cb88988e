/// A change of a device's settings; what is `.none` stays as it is.
///
/// ```swift
/// var change = DeviceChange()
/// change.tags = .value(["news"])
/// change.quietHours = .value(QuietHours(from: "22:00", until: "07:00"))
/// ```
public struct DeviceChange: Sendable, Equatable, Codable {
  /// What the device calls itself.
  public var name = Change<String>.none
  /// The tags for audiences, all of them but the one with the user's name, which always stays.
  public var tags = Change<[String]>.none
  /// The language that the device prefers (BCP 47), such as `de-CH`.
  public var language = Change<String>.none
  /// The time zone that the device is in, by its name in the IANA's database, such as `Europe/Zurich`.
  public var timeZone = Change<String>.none
  /// When pushes wait.
  public var quietHours = Change<QuietHours>.none
  /// A removal takes the push token away: the device stays, and gets no pushes until it registers again.
  ///
  /// No value can be set here.
  public var platform = Change<String>.none

  /// Changes nothing; the members can be set afterwards.
  public init() {}

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case name, tags, language, timeZone, quietHours, platform
  }
}

extension DeviceChange: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// Up to which notification all are marked read: the body of `POST /api/notifications/read`.
package struct ReadMark: Sendable, Codable {
  /// The ID of the last one.
  package let until: Int

  /// Creates the body.
  package init(until: Int) { self.until = until }
}

extension ReadMark: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: ["until"])
  }
}

/// How many notifications are unread: the response of `POST /api/notifications/read`.
package struct UnreadCount: Sendable, Codable {
  /// The number.
  package let unread: Int

  /// Creates the response.
  package init(unread: Int) { self.unread = unread }
}
