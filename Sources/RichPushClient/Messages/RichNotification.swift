public import Foundation

/// A notification as the server tells it to one of its recipients or to its publisher.
public struct RichNotification: Sendable, Equatable, Identifiable {
  /// The id that the push carries; 0 is valid.
  public let id: Int
  /// The text shown beside the media.
  public let message: String
  /// The kind of media: `img`, `sound`, `url`, or the name of any plugin of the server's.
  public let richType: String
  /// What the publisher named: an asset, or literal content such as a link.
  public let payload: String
  /// The audience, as the publisher wrote it.
  public let to: [String]
  /// Whether this user has marked it as read.
  public let isRead: Bool
  /// When it was created.
  public let created: Date
  /// When its recipients get to know of it; nil when that was at once.
  public let notBefore: Date?
  /// When its media goes away, if ever.
  public let expires: Date?
  /// The path of its media on the server.
  public let media: String
  /// What the plugin found out: type, width, height, duration, title, and whatever else it says.
  public let details: JSONValue
  /// Whom it reached; only the answer to its creation says it.
  public let reach: Reach?

  /// How many a notification is addressed to.
  public struct Reach: Sendable, Equatable, Decodable {
    /// The users who may fetch it.
    public let users: Int
    /// Their registered devices.
    public let devices: Int
    /// Those who were named and whom nobody knew so far: left out, except in a demonstration.
    public let unknown: [String]?
    /// Those of the devices that no push service of the server's sends to; 0 where an older server
    /// does not say it.
    public let devicesWithoutLane: Int

    private enum CodingKeys: String, CodingKey { case users, devices, unknown, devicesWithoutLane }

    /// Reads the server's JSON form.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      users = try members.decode(Int.self, forKey: .users)
      devices = try members.decode(Int.self, forKey: .devices)
      unknown = try members.decodeIfPresent([String].self, forKey: .unknown)
      devicesWithoutLane = try members.decodeIfPresent(Int.self, forKey: .devicesWithoutLane) ?? 0
    }
  }
}

extension RichNotification: Decodable {
  private enum CodingKeys: String, CodingKey {
    case id, message, richType, payload, to
    case isRead = "read"
    case created, notBefore, expires, media, details, reach
  }

  /// Reads the server's JSON form; members it does not know are left alone.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    id = try members.decode(Int.self, forKey: .id)
    message = try members.decode(String.self, forKey: .message)
    richType = try members.decode(String.self, forKey: .richType)
    payload = try members.decode(String.self, forKey: .payload)
    to = try members.decodeIfPresent([String].self, forKey: .to) ?? []
    isRead = try members.decodeIfPresent(Bool.self, forKey: .isRead) ?? false
    created = try members.decode(Date.self, forKey: .created)
    notBefore = try members.decodeIfPresent(Date.self, forKey: .notBefore)
    expires = try members.decodeIfPresent(Date.self, forKey: .expires)
    media = try members.decodeIfPresent(String.self, forKey: .media) ?? "/api/notifications/\(id)"
    details = try members.decodeIfPresent(JSONValue.self, forKey: .details) ?? .null
    reach = try members.decodeIfPresent(Reach.self, forKey: .reach)
  }
}
