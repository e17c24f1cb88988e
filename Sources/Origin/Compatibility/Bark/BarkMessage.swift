import FoundationEssentials
import RichPushAPI

/// A message of Bark's API, and the notification that it becomes.
struct BarkMessage: Sendable {
  let notification: NewNotification
  /// What it is about, if a later message is to take its place.
  let id: String?
  /// Whether the earlier message with this ID is to be withdrawn.
  let isDeletion: Bool

  private static let known = [
    "device_key", "title", "subtitle", "body", "markdown", "level", "sound", "icon", "image",
    "group", "url", "ttl", "id", "delete", "isArchive", "autoCopy", "automaticallyCopy", "copy",
    "badge", "call",
    "volume", "action", "ciphertext", "iv", "category", "device_keys",
  ]

  /// The message that members describe.
  ///
  /// - Throws: for what is wrong, unknown or not supported.
  init(
    _ values: [String: JSONValue], to audience: NewNotification.Audience, now: Date
  ) throws(ServiceError) {
    if let error = ServiceError(members: Array(values.keys), known: Self.known) { throw error }
    let members = ForeignMembers(values: values)
    try Self.refuse(members)
    id = try members.text("id")
    isDeletion = try members.text("delete") == "1"
    guard !isDeletion || id != nil else { throw members.fault("delete", "needs an id") }
    let (markdown, plain) = (try members.text("markdown"), try members.text("body"))
    var message = NotificationMessage(PlaceholderText.escaped(markdown ?? plain ?? ""))
    message.title = try Self.line(members, "title")
    message.subtitle = try Self.line(members, "subtitle")
    message.importance = try Self.importance(members)
    message.sound = try Self.sound(members)
    message.thread = try Self.line(members, "group")
    message.category = try Self.line(members, "category")
    message.link = try members.text("url").map(ForeignText.url)
    message.icon = try members.text("icon").map(ForeignText.url)
    message.replaces = try Self.line(members, "id")
    var new = NewNotification(message, to: audience)
    new.form = .alert
    if let image = try members.text("image") {
      (new.richType, new.payload) = ("url", try ForeignLink.media(image, "image"))
    }
    if let seconds = try members.number("ttl") {
      guard (1...(10 * 366 * 86_400)).contains(seconds) else {
        throw members.fault("ttl", "must be a number of seconds, at most ten years")
      }
      new.expires = now + Double(seconds)
    }
    notification = new
  }

  private static func refuse(_ members: ForeignMembers) throws(ServiceError) {
    try members.refuse([
      "ciphertext": "Encrypted messages are not supported, since the server makes their pushes.",
      "iv": "Encrypted messages are not supported.",
      "device_keys": "Send one request for each key.",
      "volume": "Only an admin may send a sound that is heard although the device is muted.",
      "copy": "Devices copy nothing by themselves.",
      "action": "What a tap does cannot be changed; url is opened.",
    ])
    if let call = try members.text("call"), call != "0" {
      throw members.fault("call", "is not supported: no device repeats a sound")
    }
    for name in ["autoCopy", "automaticallyCopy"] {
      if let copies = try members.text(name), copies != "0" {
        throw members.fault(name, "is not supported: devices copy nothing by themselves")
      }
    }
  }

  private static func line(
    _ members: ForeignMembers, _ name: String
  ) throws(ServiceError) -> String? {
    try members.text(name).map(ForeignText.line)
      .flatMap { $0.isEmpty ? nil : PlaceholderText.escaped($0) }
  }

  private static func importance(
    _ members: ForeignMembers
  ) throws(ServiceError) -> NotificationMessage.Importance? {
    switch try members.text("level")?.lowercased() {
    case nil, "active": nil
    case "passive": .low
    case "timesensitive": .high
    case "critical": .urgent
    default:
      throw members.fault("level", "must be passive, active, timeSensitive or critical")
    }
  }

  private static func sound(_ members: ForeignMembers) throws(ServiceError) -> MessageSound? {
    switch try members.text("sound") {
    case nil: nil
    case "silence": .silent
    // As Bark's server does.
    case let name?: .named(name.hasSuffix(".caf") ? name : name + ".caf")
    }
  }
}
