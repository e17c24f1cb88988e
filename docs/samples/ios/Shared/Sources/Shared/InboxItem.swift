import Foundation
import RichPushClient

/// A notification as a row of the inbox shows it.
public struct InboxItem: Identifiable, Equatable, Sendable {
  /// What is beside the text.
  public enum Media: Equatable, Sendable {
    case picture(aspectRatio: Double?)
    case film
    case sound
    case link(URL)
    case other
  }

  public let id: Int
  /// The heading: the title, or the text of one that has none.
  public let heading: String
  /// What stands below it.
  public let lines: [String]
  public let time: Date
  public let isUnread: Bool
  public let media: Media?
  /// What the media is for those who do not see or hear it; the text of the row says no more.
  public let mediaDescription: String?
  /// Where a tap leads.
  public let link: URL?
  public let buttons: [ButtonDescription]

  public init(_ notification: RichNotification) {
    let message = notification.message
    id = notification.id
    var texts = [message.title, message.subtitle, message.text]
      .compactMap { $0 }.filter { !$0.allSatisfy(\.isWhitespace) }
    heading = texts.isEmpty ? "" : texts.removeFirst()
    lines = texts
    time = notification.notBefore ?? notification.created
    isUnread = !notification.isRead
    media = Self.media(of: notification)
    mediaDescription = message.alt
    link = message.link.flatMap(Self.web)
    buttons = (message.actions ?? []).map(ButtonDescription.init)
  }

  private static func media(of notification: RichNotification) -> Media? {
    guard let type = notification.richType else { return nil }
    switch type {
    case "img":
      let (width, height) = (
        notification.details.width.integer, notification.details.height.integer
      )
      guard let width, let height, width > 0, height > 0 else { return .picture(aspectRatio: nil) }
      return .picture(aspectRatio: Double(width) / Double(height))
    case "video": return .film
    case "sound": return .sound
    case "url":
      // The name of a link file, or the link itself; its plugin says where it leads.
      return (notification.details.url.text ?? notification.payload).flatMap(web).map(Media.link)
        ?? .other
    default: return .other
    }
  }

  /// Only links to the web are opened.
  static func web(_ text: String) -> URL? {
    URL(string: text).flatMap { ["https", "http"].contains($0.scheme?.lowercased()) ? $0 : nil }
  }
}
