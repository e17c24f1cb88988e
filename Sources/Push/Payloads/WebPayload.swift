import Primitives
import RichPushAPI

/// The payloads for code that shows the notification itself: a browser's service worker, or an app.
extension PayloadTemplate {
  /// The payload of a message: the same whatever its form, because a browser shows every push.
  ///
  /// The form decides how urgent it is.
  static func web(_ message: PushMessage) -> PayloadTemplate {
    PayloadTemplate(
      message.kind, message, limit: PushPayload.webLimit, override: message.message.webpush
    ) { JSONText.object($0.webMembers) }
  }
}

extension PushMessage {
  /// What is shown instead of the texts where they are not for everybody's eyes.
  static let neutralText = "New notification"

  /// The notifications and, `withTexts`, what they say.
  func announced(withTexts: Bool) -> [(name: String, value: String?)] {
    let quoted = JSONText.quoted
    return [
      ("richId", id.map { quoted(String($0)) }),
      ("richIds", merged.isEmpty ? nil : JSONText.array(merged.map(String.init))),
      ("richTitle", withTexts ? message.title.map(quoted) : nil),
      ("richSubtitle", withTexts ? message.subtitle.map(quoted) : nil),
      ("richMessage", withTexts ? quoted(message.text) : nil), ("richType", richType.map(quoted)),
    ]
  }

  /// What every browser gets.
  var webMembers: [(name: String, value: String?)] {
    announced(withTexts: true) + presented + carried + attached
  }

  /// What Apple's systems know and other receivers need to be told.
  fileprivate var presented: [(name: String, value: String?)] {
    let quoted = JSONText.quoted
    return [
      ("sound", message.sound.map { JSONText.of($0) }),
      ("importance", message.importance.map { quoted($0.rawValue) }),
      ("thread", message.thread.map(quoted)), ("icon", message.icon.map(quoted)),
      ("colour", message.colour.map(quoted)), ("lang", message.language.map(quoted)),
      ("tag", tag.map(quoted)),
    ]
  }

  /// What only an app's own code can use.
  var carried: [(name: String, value: String?)] {
    let quoted = JSONText.quoted
    return [
      ("link", message.link.map(quoted)),
      ("actions", message.actions.map { JSONText.of($0) + secretGap }),
      ("replaces", message.replaces.map(quoted)),
      ("lockScreen", message.lockScreen.map { quoted($0.rawValue) }),
      ("data", message.data.map { JSONText.of($0) }),
    ]
  }

  /// Where the secret of the push stands: behind the buttons, which are answered with it.
  var secretGap: String { message.actions?.isEmpty == false ? PayloadGap.secret.text : "" }

  /// The media, and what is shown of it until it is there.
  var attached: [(name: String, value: String?)] {
    [
      ("att", media.map { attachment($0) }), ("thumbHash", shownThumbHash.map(JSONText.quoted)),
    ]
  }

  /// What may be shown of the media until it is there.
  var shownThumbHash: String? { isPrivate ? nil : thumbHash }

  private func attachment(_ media: MediaLink) -> String {
    JSONText.object([
      "url": media.quotedURL,
      "type": JSONText.quoted(media.type), "size": String(media.size),
      "alt": message.alt.map(JSONText.quoted),
    ])
  }
}

extension JSONText {
  /// The JSON text of a part of a message.
  static func of(_ value: some Encodable) -> String { JSONCoding.text(value) }
}

extension MediaLink {
  /// The link as a string literal, with the gap for the job.
  var quotedURL: String { JSONText.quoted(url).dropLast() + PayloadGap.job.text + "\"" }
}

extension PayloadGap {
  var text: String { String(rawValue) }
}
