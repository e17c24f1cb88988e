import FoundationEssentials

/// What Firebase sends to an Android device.
package enum FCMMessageKind: String, Sendable, CaseIterable {
  /// The app's own code gets the push and shows it.
  case data
  /// Android shows message and picture; the app needs no code for it.
  case notification
}

/// The body of a request to send (`google.firebase.fcm.v1.SendMessageRequest`).
struct FCMMessage: Encodable {
  /// The most bytes of a picture that Firebase's library on the device downloads.
  static let largestPicture = 1_000_000

  /// Whether the service only checks the message.
  var validateOnly: Bool?
  private let message: Message

  private struct Message: Encodable {
    let token: String
    let data: [String: String]
    let notification: Notification?
    let android: Android
  }

  private struct Notification: Encodable {
    let body: String
    let image: String?
  }

  private struct Android: Encodable {
    let priority = "HIGH"
    let ttl: String
    let collapseKey: String?
    let notification: AndroidNotification?
  }

  private struct AndroidNotification: Encodable {
    /// A notification on the device replaces one with the same tag.
    let tag: String
  }

  /// The text of a push, as ``AnnouncementForm/webText(of:)`` makes it.
  private struct Text: Decodable {
    struct Media: Decodable {
      let url: String
      let type: String
      let size: Int
    }

    let richId: String?
    let richMessage: String?
    let richType: String?
    let att: Media?
  }

  /// The message of a push to a device; nil if the push has a text that is not Firebase's.
  init?(_ push: OutgoingPush, to token: String, as kind: FCMMessageKind, at now: Date) {
    guard let text = try? JSONDecoder().decode(Text.self, from: Data(push.text.json.utf8)) else {
      return nil
    }
    let left = push.expires?.timeIntervalSince(now) ?? FCMProvider.longestLife
    let life = Int(min(max(left, 0), FCMProvider.longestLife))
    var data: [String: String] = [:]
    data["richId"] = text.richId
    data["richType"] = text.richType
    var notification: Notification?
    var onDevice: AndroidNotification?
    switch kind {
    case .data:
      data["richMessage"] = text.richMessage
      data["attUrl"] = text.att?.url
      data["attType"] = text.att?.type
      data["attSize"] = (text.att?.size).map(String.init)
    case .notification:
      let picture = text.att.flatMap {
        $0.type.hasPrefix("image/") && $0.size <= Self.largestPicture ? $0.url : nil
      }
      notification = Notification(body: text.richMessage ?? "", image: picture)
      onDevice = push.collapseID.map(AndroidNotification.init)
    }
    message = Message(
      token: token, data: data, notification: notification,
      android: Android(
        ttl: "\(life)s",
        collapseKey: push.isCollapsible ? push.collapseID : nil,
        notification: onDevice))
  }

  /// The JSON text.
  var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map(Array.init) ?? []
  }
}
