import Primitives
import RichPushAPI

/// The payloads for Apple's devices (developer.apple.com, "Generating a remote notification").
extension PayloadTemplate {
  /// The payload of a message in its form, at most ``PushPayload/limit`` bytes long.
  static func apple(_ message: PushMessage) -> PayloadTemplate {
    guard message.id != nil else {
      return PayloadTemplate(.alert, message) {
        JSONText.object(["aps": JSONText.object(["alert": JSONText.quoted($0.message.text)])])
      }
    }
    // The tutorial's text never changes.
    let override = message.form == .legacy ? nil : message.message.apns
    return PayloadTemplate(message.kind, message, override: override) { message in
      switch message.form {
      case .silent:
        JSONText.object(
          [("aps", #"{"content-available":1}"#)] + message.announced(withTexts: true)
            + message.carried)
      case .alert:
        JSONText.object(
          [("aps", message.aps(wakesApp: false))] + message.announced(withTexts: false)
            + message.carried + message.attached)
      case .hybrid:
        JSONText.object(
          [("aps", message.aps(wakesApp: true))] + message.announced(withTexts: true)
            + message.carried + message.attached)
      case .legacy: message.legacy
      }
    }
  }
}

extension PushMessage {
  /// What Apple's systems show of it.
  fileprivate func aps(wakesApp: Bool) -> String {
    let quoted = JSONText.quoted
    let alert =
      isPrivate
      // The extension puts the texts in their place, which only a device that is unlocked runs to the end.
      ? JSONText.object(["body": quoted(Self.neutralText)])
      : JSONText.object([
        "title": message.title.map(quoted), "subtitle": message.subtitle.map(quoted),
        "body": quoted(message.text),
      ])
    return JSONText.object([
      "alert": alert, "mutable-content": "1", "content-available": wakesApp ? "1" : nil,
      "badge": countsUnread ? PayloadGap.badge.text : nil, "sound": message.sound?.apple,
      "category": category.map(quoted), "thread-id": message.thread.map(quoted),
      "interruption-level": message.importance.map { quoted($0.interruptionLevel) },
      "relevance-score": message.relevance.map(JSONText.number),
    ])
  }

  /// The app's own category, or one for its buttons, which RichPushClient registers in the service extension.
  private var category: String? {
    if let category = message.category { return category }
    guard let actions = message.actions, !actions.isEmpty else { return nil }
    let labels = actions.flatMap { [$0.id, $0.label] }.joined(separator: "\n")
    let hash = Signing.hmac(key: Array("category".utf8), Array(labels.utf8))
    return "richpush-" + Base64URL.encode(hash).prefix(16)
  }

  /// The text of the Azure "Rich Push" tutorial, including its white space.
  fileprivate var legacy: String {
    #"{"aps": {"content-available": 1, "sound":""}, "richId": "\#(id ?? 0)","#
      + #"  "richMessage": \#(JSONText.quoted(message.text)), "#
      + #""richType": \#(JSONText.quoted(richType ?? ""))}"#
  }
}

extension MessageSound {
  /// The value of `aps.sound`; nil for none.
  fileprivate var apple: String? {
    switch self {
    case .silent: nil
    case .default: #""default""#
    case .named(let name): JSONText.quoted(name)
    case .critical(let volume):
      #"{"critical":1,"name":"default","volume":\#(JSONText.number(volume))}"#
    }
  }
}

extension NotificationMessage.Importance {
  fileprivate var interruptionLevel: String {
    switch self {
    case .min, .low: "passive"
    case .normal: "active"
    case .high, .urgent: "time-sensitive"
    }
  }
}
