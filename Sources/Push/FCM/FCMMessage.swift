import FoundationEssentials
import Primitives

/// What Firebase sends to an Android device.
package enum FCMMessageKind: String, Sendable, CaseIterable {
  /// The app's own code gets the push and shows it.
  case data
  /// Android shows message and picture; the app needs no code for it.
  case notification
}

/// The body of a request to send (`google.firebase.fcm.v1.SendMessageRequest`).
struct FCMMessage {
  /// The most bytes of a picture that Firebase's library on the device downloads.
  static let largestPicture = 1_000_000

  /// The JSON text.
  let json: [UInt8]

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
  ///
  /// If `validateOnly`, the service only checks it.
  init?(
    _ push: OutgoingPush, to token: String, as kind: FCMMessageKind, at now: Date,
    validateOnly: Bool = false
  ) {
    guard let text = try? JSONDecoder().decode(Text.self, from: Data(push.text.json.utf8)) else {
      return nil
    }
    let left = push.expires?.timeIntervalSince(now) ?? FCMProvider.longestLife
    let life = Int(min(max(left, 0), FCMProvider.longestLife))
    let quoted = JSONText.quoted
    let (isData, collapseID) = (kind == .data, push.collapseID.map(quoted))
    let android = JSONText.object([
      "collapseKey": push.isCollapsible ? collapseID : nil,
      // A notification on the device replaces one with the same tag.
      "notification": isData ? nil : collapseID.map { JSONText.object(["tag": $0]) },
      "priority": quoted("HIGH"), "ttl": quoted("\(life)s"),
    ])
    // Of a notification, text and picture are Android's, and not the app's data.
    let media = isData ? text.att : nil
    let data = JSONText.object([
      "attSize": media.map { quoted("\($0.size)") }, "attType": media.map { quoted($0.type) },
      "attUrl": media.map { quoted($0.url) }, "richId": text.richId.map(quoted),
      "richMessage": isData ? text.richMessage.map(quoted) : nil,
      "richType": text.richType.map(quoted),
    ])
    let picture = text.att.flatMap {
      $0.type.hasPrefix("image/") && $0.size <= Self.largestPicture ? quoted($0.url) : nil
    }
    let notification = JSONText.object(["body": quoted(text.richMessage ?? ""), "image": picture])
    let message = JSONText.object([
      "android": android, "data": data, "notification": isData ? nil : notification,
      "token": quoted(token),
    ])
    json = Array(
      JSONText.object(["message": message, "validateOnly": validateOnly ? "true" : nil]).utf8)
  }
}
