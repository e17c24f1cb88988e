import Delivery
import FoundationEssentials
import Primitives
import Push
import RichPushAPI
import Store

/// A notification as a reader of ntfy's API gets it.
struct NtfyDelivery: Sendable {
  let notification: StoredNotification
  /// That of the event, so that it is the same whenever and wherever it is read.
  let id: String
  /// When its recipients first learned of it.
  let time: Date
  let title: String?
  let text: String
  /// From 1 to 5.
  let priority: Int
  let tags: [String]
  private let click: String?
  private let icon: String?
  private let actions: [MessageAction]
  private let attachment: NtfyAttachment?

  /// What an event tells who prefers some languages, the best first; nil if it tells of no notification.
  init?(_ event: FeedEvent, for languages: [String], _ attachments: NtfyAttachments) async {
    guard let (notification, push) = event.announced(for: languages) else { return nil }
    let message = push.message
    self.notification = notification
    id = NtfyID.text(ofEvent: event.sequence)
    time = notification.notBefore ?? notification.created
    tags =
      if case .array(let items)? = message.data?.members?["tags"] {
        items.compactMap(\.text)
      } else {
        []
      }
    // The apps put them there again.
    let emoji = tags.compactMap(NtfyEmoji.named).joined(separator: " ") + " "
    func plain(_ text: String) -> String {
      emoji.count > 1 && text.hasPrefix(emoji) ? String(text.dropFirst(emoji.count)) : text
    }
    title = message.title.map(plain)
    let body = message.title == nil ? plain(message.text) : message.text
    text = [message.subtitle ?? "", body].filter { !$0.isEmpty }.joined(separator: "\n")
    priority =
      switch message.importance {
      case .min: 1
      case .low: 2
      case .normal, nil: NtfyPriority.normal
      case .high: 4
      case .urgent: 5
      }
    click = message.link ?? (notification.richType == "url" ? notification.payload : nil)
    icon = message.icon
    actions = (message.actions ?? []).filter { $0.link != nil }
    attachment = await attachments.attachment(of: notification)
  }

  /// Whether a reader wants it.
  func isWanted(by subscription: NtfySubscription) -> Bool {
    if case .time(let time) = subscription.since, self.time < time { return false }
    // The push to the iOS app has a notification's number.
    return [nil, id, String(notification.id)].contains(subscription.id)
      && (subscription.message ?? text) == text
      && (subscription.title ?? title) == title
      && (subscription.priorities.isEmpty || subscription.priorities.contains(priority))
      && subscription.tags.allSatisfy(tags.contains)
  }

  /// The sequence of a notification in a topic, by which a later message takes the place of an earlier one.
  static func sequence(of notification: StoredNotification, in topic: String) -> String {
    guard let subject = notification.replaces else { return NtfyID.text(notification.id) }
    // As its publisher has named it by this API.
    let own = subject.hasPrefix(topic + "/") ? String(subject.dropFirst(topic.count + 1)) : ""
    if NtfyTopic.isName(own) { return own }
    return "s" + Digest(of: "\(notification.sender?.rawValue ?? 0) \(subject)").hex.prefix(11)
  }

  /// The message in one of its topics, for a reader who addresses the server by `base`; `suffix` ends links to media.
  func json(in topic: String, at base: String, suffix: String) -> String {
    let members: [(name: String, value: String?)] = [
      ("id", JSONText.quoted(id)),
      ("time", Self.seconds(time)),
      ("expires", notification.expires.map(Self.seconds)),
      ("event", JSONText.quoted(NtfyAnswer.Event.message.rawValue)),
      ("topic", JSONText.quoted(topic)),
      ("sequence_id", JSONText.quoted(Self.sequence(of: notification, in: topic))),
      ("title", title.map(JSONText.quoted)),
      ("message", JSONText.quoted(text)),
      ("priority", priority == NtfyPriority.normal ? nil : String(priority)),
      ("tags", tags.isEmpty ? nil : JSONText.array(tags)),
      ("click", click.map(JSONText.quoted)),
      ("icon", icon.map(JSONText.quoted)),
      (
        "actions", actions.isEmpty ? nil : "[" + actions.map(Self.view).joined(separator: ",") + "]"
      ),
      ("attachment", attachment?.json(at: base, suffix: suffix)),
    ]
    return JSONText.object(members)
  }

  /// A button that opens a link; there is none that calls this server, for which the app has no credentials.
  private static func view(_ action: MessageAction) -> String {
    JSONText.object([
      "id": JSONText.quoted(action.id), "action": JSONText.quoted("view"),
      "label": JSONText.quoted(action.label), "clear": "false",
      "url": JSONText.quoted(action.link ?? ""),
    ])
  }

  private static func seconds(_ time: Date) -> String { String(Int(time.timeIntervalSince1970)) }
}
