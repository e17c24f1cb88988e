import FoundationEssentials
import Primitives
import RichPushAPI

/// A message of ntfy's API, and the notification that it becomes.
struct NtfyMessage: Sendable {
  let topic: NtfyTopic
  /// The text; `triggered` if there is none.
  var text: String
  let title: String?
  /// From 1 to 5; nil for 3.
  let priority: Int?
  let tags: [String]
  let click: String?
  let icon: String?
  /// A file elsewhere.
  let attach: String?
  let filename: String?
  let views: [NtfyActions.View]
  let time: Date?
  /// The sequence in whose place it comes.
  let sequence: String?
  let isMarkdown: Bool

  /// The longest text of ntfy's own server is 4,096 bytes; here it may be as long as a notification's.
  static let longestText = NotificationMessage.longestText

  /// The message that parameters describe; `sequence` is the one in the path.
  ///
  /// - Throws: for what is wrong, and for what is not supported: it is never ignored.
  init(
    _ parameters: NtfyParameters, topic: NtfyTopic, sequence: String? = nil, text: String,
    contentType: String? = nil, now: Date
  ) throws(ServiceError) {
    try Self.requireSupported(parameters)
    self.topic = topic
    self.text = text
    title = parameters[.title].map(ForeignText.line).flatMap { $0.isEmpty ? nil : $0 }
    let number = try parameters[.priority].map(NtfyPriority.number)
    priority = number == NtfyPriority.normal ? nil : number
    tags = (parameters[.tags] ?? "").split(separator: ",")
      .map { String($0).trimming(\.isWhitespace) }.filter { !$0.isEmpty }
    click = parameters[.click].map(ForeignText.url)
    icon = parameters[.icon].map(ForeignText.url)
    attach = try parameters[.attach].map { text throws(ServiceError) in
      try ForeignLink.media(text, "attach")
    }
    filename = parameters[.filename]
    views =
      if let value = parameters.actions {
        try NtfyActions(value).views
      } else if let text = parameters[.actions] {
        try NtfyActions(text).views
      } else {
        []
      }
    time = try parameters[.delay].map { text throws(ServiceError) in
      try NtfyDelay.time(text, now: now)
    }
    let named = sequence ?? parameters[.sequenceId]
    guard named.map(NtfyTopic.isName) ?? true else {
      throw ServiceError(
        .init(
          "sequence_id", .rejected,
          "A sequence ID has from 1 to 64 letters, digits and the characters - and _."))
    }
    self.sequence = named
    isMarkdown =
      parameters.isTrue(.markdown) || contentType?.lowercased().hasPrefix("text/markdown") == true
  }

  private static func requireSupported(_ parameters: NtfyParameters) throws(ServiceError) {
    let refusals: [(NtfyParameters.Name, String)] = [
      (.email, "This server sends no e-mail."), (.call, "This server makes no phone calls."),
      (.pollId, "This server forwards no messages of other servers."),
    ]
    for (name, reason) in refusals where parameters[name] != nil {
      throw ServiceError(.init(name.rawValue, .rejected, "\(reason) Leave \(name.rawValue) out."))
    }
    if let template = parameters[.template],
      !["no", "false", "0"].contains(template.lowercased())
    {
      throw ServiceError(
        .init("template", .rejected, "Templates are not supported. Leave template out."))
    }
    if parameters.isTrue(.unifiedpush) {
      throw ServiceError(
        .init(
          "unifiedpush", .rejected,
          "This server is no distributor of UnifiedPush: nobody may write without an account."))
    }
  }

  /// The notification for those who have the topic as a tag.
  var notification: NewNotification {
    let emoji = tags.compactMap(NtfyEmoji.named).joined(separator: " ")
    func decorated(_ text: String) -> String {
      PlaceholderText.escaped(emoji.isEmpty ? text : "\(emoji) \(text)")
    }
    // As ntfy's apps show it: emoji are before the title, or before the text if there is none.
    var message = NotificationMessage(
      title == nil ? decorated(text) : PlaceholderText.escaped(text))
    message.title = title.map(decorated)
    message.importance = importance
    if !tags.isEmpty {
      message.data = .object(["tags": .array(tags.map(JSONValue.string))])
    }
    (message.link, message.icon) = (click, icon)
    if !views.isEmpty {
      message.actions = views.enumerated().map { index, view in
        var action = MessageAction(
          "view-\(index + 1)", label: PlaceholderText.escaped(ForeignText.line(view.label)))
        action.link = ForeignText.url(view.url)
        return action
      }
    }
    message.replaces = sequence.map(topic.subject)
    var new = NewNotification(message, to: .anyTag([topic.name]))
    new.form = .alert
    new.notBefore = time
    if let attach { (new.richType, new.payload) = ("url", attach) }
    return new
  }

  private var importance: NotificationMessage.Importance? {
    switch priority {
    case 1: .min
    case 2: .low
    case 4: .high
    case 5: .urgent
    default: nil
    }
  }
}
