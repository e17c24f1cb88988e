/// The rules of `apns`, `fcm` and `webpush`, which change finished payloads.
extension NotificationMessage {
  /// The most bytes of each of them, as JSON text.
  package static let longestOverride = 2048
  /// The most levels of objects and arrays in each of them.
  private static let deepestOverride = 8

  /// All that is wrong with its overrides, in pushes of a form; `countsUnread` says whether these set the badge.
  package func overrideFaults(
    in form: PushForm, countsUnread: Bool
  ) -> [ServiceError.Fault] {
    let overrides = [
      ("apns", apns, PayloadRule.apns(isSilent: form == .silent, countsUnread: countsUnread)),
      ("fcm", fcm, PayloadRule.firebase),
      ("webpush", webpush, PayloadRule.webPush(countsUnread: countsUnread)),
    ]
    return overrides.flatMap { name, patch, rule -> [ServiceError.Fault] in
      guard let patch else { return [] }
      func fault(_ rule: String) -> [ServiceError.Fault] {
        [ServiceError.Fault(name, .rejected, "\(name) \(rule).")]
      }
      guard patch.depth <= Self.deepestOverride else {
        return fault("has more than \(Self.deepestOverride) levels")
      }
      guard JSONCoding.encode(patch).count <= Self.longestOverride else {
        return fault("has more than \(Self.longestOverride) bytes")
      }
      return rule.faults(in: patch, at: name)
    }
  }
}

extension JSONValue {
  /// The levels of objects and arrays.
  fileprivate var depth: Int {
    switch self {
    case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
    case .array(let items): 1 + (items.map(\.depth).max() ?? 0)
    default: 0
    }
  }

  /// A header field that an override sets; nil if it sets none of this name.
  package func header(_ name: String) -> String? { self.headers.members?[name]?.text }
}

extension PayloadRule {
  private static let ours = "the server sets it"
  private static let whole = 0...Double(Int32.max)
  private static let url = text("a URL that begins with https:") {
    $0.utf8.count <= 2000 && NotificationMessage.isSecureURL($0)
  }
  /// A picture of another host would tell it who reads the notification, and when.
  private static let picture = removed("the picture is the notification's media")

  // MARK: - Apple

  /// The payload for Apple's devices (developer.apple.com, "Generating a remote notification").
  fileprivate static func apns(isSilent: Bool, countsUnread: Bool) -> PayloadRule {
    var members = aps
    if isSilent {
      // Apple takes a push that wakes the app only if it shows nothing.
      for name in ["alert", "badge", "sound"] {
        members[name] = fixed("a push of the form silent shows nothing")
      }
    }
    if countsUnread { members["badge"] = fixed("badge sets it to the unread count") }
    members["content-available"] = fixed("the form of the push decides it")
    return object(
      [
        "aps": kept(object(members, others: anything)), "richId": fixed(ours),
        "richIds": fixed(ours),
        "att": fixed(ours),
        // Apple refuses the highest priority for a push that shows nothing.
        "headers": object(["apns-priority": word(isSilent ? ["1", "5"] : ["1", "5", "10"])]),
      ], others: anything)
  }

  /// The known members of `aps`; a critical alert is for admins, and has a member of its own: `sound`.
  private static let aps: [String: PayloadRule] = [
    "alert": either(
      string,
      object(
        [
          "title": string, "subtitle": string, "body": string, "launch-image": string,
          "title-loc-key": string, "title-loc-args": list(string), "subtitle-loc-key": string,
          "subtitle-loc-args": list(string), "loc-key": string, "loc-args": list(string),
        ], others: anything)),
    "badge": integer(whole), "sound": string, "thread-id": string, "category": string,
    "content-available": integer(0...1), "mutable-content": integer(0...1),
    "target-content-id": string, "filter-criteria": string,
    "interruption-level": word(["passive", "active", "time-sensitive"]),
    "relevance-score": number(0...1),
  ]

  // MARK: - Firebase

  /// `google.firebase.fcm.v1.Message`; Firebase refuses members that it does not know.
  fileprivate static let firebase = object([
    "name": fixed(ours), "token": fixed(ours), "fid": fixed(ours), "topic": fixed(ours),
    "condition": fixed(ours), "androidV2": fixed("the message has android"),
    "android": kept(
      object([
        "collapseKey": fixed(ours), "ttl": fixed("expires sets it"),
        "priority": word(["NORMAL", "HIGH"]), "restrictedPackageName": string, "data": data,
        "notification": androidNotification, "fcmOptions": fcmOptions(), "directBootOk": bool,
        "bandwidthConstrainedOk": bool, "restrictedSatelliteOk": bool,
      ])),
    "data": kept(data), "fcmOptions": fcmOptions(),
    "notification": object(["title": string, "body": string, "image": picture]),
    "apns": object([
      "headers": texts, "payload": object(["aps": object(aps, others: anything)], others: anything),
      "liveActivityToken": string, "fcmOptions": fcmOptions(["image": picture]),
    ]),
    "webpush": object([
      "headers": texts, "data": data, "fcmOptions": fcmOptions(["link": url]),
      "notification": object(
        ["image": picture, "icon": picture, "badge": picture], others: anything),
    ]),
  ])

  private static let texts = object { _ in string }

  /// What an app's code gets: strings only, of which some names are reserved.
  private static let data = object { name in
    if name.hasPrefix("rich") || name.hasPrefix("att") { return fixed(ours) }
    let isReserved =
      ["from", "message_type"].contains(name) || name.hasPrefix("google") || name.hasPrefix("gcm")
    return isReserved ? fixed("Firebase reserves the name") : string
  }

  private static func fcmOptions(_ others: [String: PayloadRule] = [:]) -> PayloadRule {
    let label = text("from 1 to 50 letters, digits and the characters -_.~%") {
      $0.wholeMatch(of: /[A-Za-z0-9_.~%-]{1,50}/) != nil
    }
    return object(others.merging(["analyticsLabel": label]) { own, _ in own })
  }

  private static let androidNotification = object([
    "title": string, "body": string, "icon": string, "sound": string, "tag": string,
    "clickAction": string, "titleLocKey": string, "titleLocArgs": list(string),
    "bodyLocKey": string, "bodyLocArgs": list(string), "channelId": string, "ticker": string,
    "image": picture,
    "color": text("a colour such as #00aa77") {
      $0.wholeMatch(of: /#[0-9A-Fa-f]{6}/) != nil
    },
    "sticky": bool, "localOnly": bool, "defaultSound": bool, "defaultVibrateTimings": bool,
    "defaultLightSettings": bool, "bypassProxyNotification": bool,
    "eventTime": text("a time such as 2026-12-31T23:59:59Z") { JSONCoding.time($0) != nil },
    "notificationPriority": word([
      "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
    ]),
    "visibility": word(["PRIVATE", "PUBLIC", "SECRET"]),
    "proxy": word(["ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
    "notificationCount": integer(whole), "vibrateTimings": list(duration),
    "lightSettings": object([
      "color": object([
        "red": number(0...1), "green": number(0...1), "blue": number(0...1), "alpha": number(0...1),
      ]), "lightOnDuration": duration, "lightOffDuration": duration,
    ]),
  ])

  private static let duration = text("a duration such as 3.5s") {
    $0.wholeMatch(of: /[0-9]{1,9}(\.[0-9]{1,9})?s/) != nil
  }

  // MARK: - Web Push

  /// The payload for browsers; `notification` has the members of a declarative message, and those that the worker of
  /// the app passes on.
  fileprivate static func webPush(countsUnread: Bool) -> PayloadRule {
    object(
      [
        "web_push": fixed(ours), "mutable": fixed(ours), "richId": fixed(ours),
        "richIds": fixed(ours), "att": fixed(ours), "app_badge": fixed("badge sets it"),
        "headers": object(["Urgency": word(["very-low", "low", "normal", "high"])]),
        "notification": kept(
          object(
            [
              "title": kept(
                text("a text that is not empty") { $0.contains { !$0.isWhitespace } }),
              "navigate": kept(url), "body": string, "tag": string, "lang": string,
              "dir": word(["auto", "ltr", "rtl"]), "icon": url, "badge": url, "image": picture,
              "silent": bool, "requireInteraction": bool, "renotify": bool,
              "timestamp": number(0...8.64e15), "vibrate": list(integer(0...10_000)),
              "mutable": fixed(ours),
              "app_badge": countsUnread
                ? fixed("badge sets it to the unread count") : integer(whole),
            ], others: anything)),
      ], others: anything)
  }
}
