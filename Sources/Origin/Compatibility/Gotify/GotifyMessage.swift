import FoundationEssentials
import RichPushAPI

/// A message of Gotify's API, and the notification that it becomes.
struct GotifyMessage: Sendable {
  let text: String
  let title: String?
  /// From 0 to 10; nil for the usual one.
  let priority: Int?
  let extras: [String: JSONValue]

  /// The message that a body describes.
  ///
  /// - Throws: for what is wrong or unknown.
  init(_ values: [String: JSONValue]) throws(ServiceError) {
    let known = ["title", "message", "priority", "extras"]
    if let error = ServiceError(members: Array(values.keys), known: known) { throw error }
    let members = ForeignMembers(values: values)
    guard let text = try members.text("message") else {
      throw members.fault("message", "is missing")
    }
    self.text = text
    title = try members.text("title").map(ForeignText.line).flatMap { $0.isEmpty ? nil : $0 }
    priority = try members.number("priority")
    switch values["extras"] ?? .null {
    case .null: extras = [:]
    case .object(let members): extras = members
    default: throw members.fault("extras", "must be an object")
    }
  }

  /// The notification for an audience.
  ///
  /// - Throws: for extras that are not supported.
  func notification(
    to audience: NewNotification.Audience
  ) throws(ServiceError) -> NewNotification {
    var message = NotificationMessage(PlaceholderText.escaped(text))
    message.title = title.map(PlaceholderText.escaped)
    message.importance = importance
    var new = NewNotification(message, to: audience)
    new.form = .alert
    var data: [String: JSONValue] = [:]
    for (name, value) in extras {
      switch name {
      case "client::display": try Self.requireText(value)
      case "client::notification": try Self.show(value, in: &new)
      case "android::action":
        throw Self.fault("android::action is not supported: a message starts no app by itself")
      default: data[name] = value
      }
    }
    if !data.isEmpty { new.message.data = .object(data) }
    return new
  }

  private var importance: NotificationMessage.Importance? {
    switch priority {
    case nil, 4?, 5?, 6?, 7?: nil
    case .some(...0): .min
    case 1?, 2?, 3?: .low
    case .some: .high
    }
  }

  /// A text in Markdown stays as it is.
  private static func requireText(_ value: JSONValue) throws(ServiceError) {
    let members = value.members ?? [:]
    let isKnown =
      members.keys.allSatisfy { $0 == "contentType" }
      && ["text/plain", "text/markdown"].contains(value.contentType.text ?? "text/plain")
    guard value.members != nil, isKnown else {
      throw fault("client::display must have a contentType of text/plain or text/markdown")
    }
  }

  /// What a tap opens, and a picture elsewhere.
  private static func show(
    _ value: JSONValue, in new: inout NewNotification
  ) throws(ServiceError) {
    let members = value.members ?? [:]
    let click = value.click
    guard value.members != nil, members.keys.allSatisfy({ ["click", "bigImageUrl"].contains($0) }),
      click == .null || click.members?.keys.allSatisfy({ $0 == "url" }) == true
    else { throw fault("client::notification must have click, with a url, or bigImageUrl") }
    new.message.link = click.url.text.map(ForeignText.url)
    if let image = value.bigImageUrl.text {
      (new.richType, new.payload) = ("url", try ForeignLink.media(image, "bigImageUrl"))
    }
  }

  private static func fault(_ reason: String) -> ServiceError {
    ServiceError(.init("extras", .rejected, "\(reason)."))
  }
}
