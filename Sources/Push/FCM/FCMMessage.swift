import FoundationEssentials
import Primitives
import RichPushAPI

/// The payload of a push through Firebase: a `message` without its token, and without what is known when it is sent
/// (`google.firebase.fcm.v1.Message`).
extension PayloadTemplate {
  static func firebase(_ message: PushMessage, as kind: FCMMessageKind) -> PayloadTemplate {
    PayloadTemplate(
      message.kind, message, limit: PushPayload.webLimit, override: message.message.fcm
    ) { message in
      let isData = kind == .data
      return JSONText.object([
        "android": message.android(shownBy: kind), "data": message.firebaseData(for: kind),
        "fcmOptions": message.message.label.map {
          JSONText.object(["analyticsLabel": JSONText.quoted($0)])
        },
        "notification": isData ? nil : message.firebaseNotification,
      ])
    }
  }
}

extension PushMessage {
  /// The most bytes of a picture that Firebase's library on the device downloads.
  private static let largestPicture = 1_000_000

  /// The members of `android`, before which ``FCMRequest`` adds others.
  fileprivate func android(shownBy kind: FCMMessageKind) -> String {
    let isHigh = message.importance.map { $0 != .min && $0 != .low } ?? true
    return JSONText.object([
      "priority": JSONText.quoted(isHigh ? "HIGH" : "NORMAL"),
      "notification": kind == .data ? nil : androidNotification,
    ])
  }

  /// What Android shows beside texts and picture; nil if nothing is said about it.
  private var androidNotification: String? {
    let quoted = JSONText.quoted
    let sound: String? =
      switch message.sound {
      case .named(let name): quoted(name)
      default: nil
      }
    let text = JSONText.object([
      // A notification on the device replaces one with the same tag.
      "tag": collapseID.map(quoted),
      "channelId": message.channel.map(quoted), "color": message.colour.map(quoted),
      "visibility": message.lockScreen.map { quoted($0.rawValue.uppercased()) },
      "notificationPriority": message.importance.map { quoted($0.android) }, "sound": sound,
      "defaultSound": message.sound == .default ? "true" : nil,
    ])
    return text == "{}" ? nil : text
  }

  /// The texts, and the picture if Firebase's library shows it.
  fileprivate var firebaseNotification: String {
    let body = [message.subtitle, message.text].compactMap(\.self).filter { !$0.isEmpty }
    let picture = media.flatMap {
      $0.type.hasPrefix("image/") && $0.size <= Self.largestPicture
        ? $0.quotedURL : nil
    }
    return JSONText.object([
      "title": message.title.map(JSONText.quoted),
      "body": JSONText.quoted(body.joined(separator: "\n")), "image": picture,
    ])
  }

  /// What the app's code gets, strings only; of a notification, texts and picture are Android's.
  fileprivate func firebaseData(for kind: FCMMessageKind) -> String {
    let quoted = JSONText.quoted
    let isData = kind == .data
    let media = isData ? media : nil
    return JSONText.object([
      "attAlt": media == nil ? nil : message.alt.map(quoted),
      "attSize": media.map { quoted("\($0.size)") }, "attType": media.map { quoted($0.type) },
      "attUrl": media.map(\.quotedURL),
      "richId": id.map { quoted(String($0)) },
      "richTitle": isData ? message.title.map(quoted) : nil,
      "richSubtitle": isData ? message.subtitle.map(quoted) : nil,
      "richMessage": isData ? quoted(message.text) : nil, "richType": richType.map(quoted),
      "link": message.link.map(quoted),
      "actions": message.actions.map { quoted(JSONText.of($0)) + secretGap },
      "category": message.category.map(quoted), "thread": message.thread.map(quoted),
      "replaces": message.replaces.map(quoted), "tag": isData ? tag.map(quoted) : nil,
      "sound": isData ? message.sound.map { quoted($0.name) } : nil,
      "importance": isData ? message.importance.map { quoted($0.rawValue) } : nil,
      "lockScreen": isData ? message.lockScreen.map { quoted($0.rawValue) } : nil,
      "colour": isData ? message.colour.map(quoted) : nil,
      "channel": isData ? message.channel.map(quoted) : nil,
      "icon": message.icon.map(quoted), "data": message.data.map { quoted(JSONText.of($0)) },
      "thumbHash": isData ? shownThumbHash.map(quoted) : nil,
    ])
  }
}

extension MessageSound {
  /// `none`, `default`, a file's name or `critical`.
  fileprivate var name: String {
    switch self {
    case .silent: "none"
    case .default: "default"
    case .named(let name): name
    case .critical: "critical"
    }
  }
}

extension NotificationMessage.Importance {
  /// A `NotificationPriority`, which Android up to 7.1 uses.
  fileprivate var android: String {
    switch self {
    case .min: "PRIORITY_MIN"
    case .low: "PRIORITY_LOW"
    case .normal: "PRIORITY_DEFAULT"
    case .high: "PRIORITY_HIGH"
    case .urgent: "PRIORITY_MAX"
    }
  }
}

/// The body of a request to send a push (`google.firebase.fcm.v1.SendMessageRequest`).
struct FCMRequest {
  /// The JSON text.
  let json: [UInt8]

  /// How every payload begins: no member that it may have has a name before this one.
  private static let head = #"{"android":{"#

  /// The request for a device, by its registration token or Firebase installation ID, or without a target; nil for a
  /// payload that is not Firebase's.
  ///
  /// With a collapse key only if it `isCollapsible`. If `validateOnly`, the service only checks it.
  init?(
    _ push: OutgoingPush, to token: String? = nil, isCollapsible: Bool, at now: Date,
    validateOnly: Bool = false
  ) {
    let payload = push.text.json
    guard payload.hasPrefix(Self.head), payload.hasSuffix("}") else { return nil }
    let left = push.expires?.timeIntervalSince(now) ?? FCMProvider.longestLife
    let life = Int(min(max(left, 0), FCMProvider.longestLife))
    let collapseID = isCollapsible ? push.collapseID : nil
    let key = collapseID.map { #""collapseKey":\#(JSONText.quoted($0)),"# } ?? ""
    let target = token.map { token in
      #","\#(Self.isInstallationID(token) ? "fid" : "token")":\#(JSONText.quoted(token))"#
    }
    let rest = payload.dropFirst(Self.head.count).dropLast()
    json = Array(
      (#"{"message":"# + Self.head + key + #""ttl":"\#(life)s""#
        + (rest.hasPrefix("}") ? "" : ",") + rest + (target ?? "") + "}"
        + (validateOnly ? #","validateOnly":true}"# : "}")).utf8)
  }

  /// Whether it is a Firebase installation ID: 17 bytes of Base64URL, of which the first four bits are 0111
  /// (firebase.google.com, "Manage Firebase installations"); registration tokens are several times as long.
  private static func isInstallationID(_ token: String) -> Bool {
    token.utf8.count == 22 && "cdef".contains(token.first ?? "-")
      && token.utf8.allSatisfy { $0.isAlphanumeric || $0 == 0x2D || $0 == 0x5F }
  }
}
