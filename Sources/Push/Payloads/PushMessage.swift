import Primitives
package import RichPushAPI

/// What a push announces: a version of a notification's message, or a text that belongs to no notification.
package struct PushMessage: Sendable, Equatable {
  /// The notification's ID, which the push carries as text in `richId`; nil if it belongs to none.
  package var id: Int?
  /// The IDs of all notifications that it announces, newest first, if they are several.
  package var merged: [Int] = []
  /// What it says; a payload has less of the text where it would grow too long.
  package var message: NotificationMessage
  /// The plugin's name, such as `img`; nil without media.
  package var richType: String?
  /// The form of the push.
  package var form = PushForm.alert
  /// Whether to set the app icon's badge to the unread count at the time of sending.
  package var countsUnread = false
  /// Where a notification service extension fetches the media, without a password.
  package var media: MediaLink?
  /// What the media looks like from afar: a ThumbHash in Base64.
  package var thumbHash: String?
  /// The URL of the page that shows it; nil if the server has none.
  package var page: String?
  /// The collapse ID of its pushes, which names what they replace on a device; nil if they replace nothing.
  package var collapseID: String?

  /// A text that belongs to no notification.
  package init(text: String) { message = NotificationMessage(text) }

  /// A notification; the optional members can be set afterwards.
  package init(_ id: Int, _ message: NotificationMessage, richType: String?, form: PushForm) {
    (self.id, self.message, self.richType, self.form) = (id, message, richType, form)
  }

  /// The kind of its pushes.
  package var kind: PushPayload.Kind { id == nil ? .alert : form.kind }

  /// What its notification on a device replaces, for code that shows it; nil if it replaces none but its own
  /// earlier versions, which have the same ID.
  var tag: String? { message.replaces == nil ? nil : collapseID }

  /// Whether a locked screen may show what it says.
  var isPrivate: Bool { message.lockScreen.map { $0 != .public } ?? false }

  /// The same as an alert.
  var asAlert: PushMessage {
    var alert = self
    alert.form = .alert
    return alert
  }

  /// One alert in place of several, newest first: it has their texts, the collapse ID of the oldest, as whose push it
  /// is sent, and all else of the newest.
  ///
  /// Nil if one of them announces no notification.
  static func merging(_ messages: [PushMessage]) -> PushMessage? {
    let ids = messages.compactMap(\.id)
    guard var merged = messages.first?.asAlert, ids.count == messages.count else { return nil }
    if ids.count > 1 { merged.merged = ids }
    merged.collapseID = messages.last?.collapseID
    merged.message.text = messages.map(\.message.text).filter { !$0.isEmpty }
      .joined(separator: "\n")
    return merged
  }
}

extension PushForm {
  /// How a push service has to treat its pushes.
  package var kind: PushPayload.Kind {
    switch self {
    case .silent, .legacy: .background
    case .alert, .hybrid: .alert
    }
  }
}

/// A signed link to a notification's media, with what an extension needs to decide whether to fetch it.
package struct MediaLink: Sendable, Equatable {
  /// Without the job that a push adds to it.
  package let url: String
  /// The media type, such as `image/png`.
  package let type: String
  /// The size in bytes.
  package let size: Int

  package init(url: String, type: String, size: Int) {
    (self.url, self.type, self.size) = (url, type, size)
  }
}

/// Names the push to one device in a link to media, so that a fetch shows which device it is from: `&to=12.<UUID>`.
package struct JobSuffix: Sendable, Hashable {
  /// The number of the job.
  package let job: Int
  /// Its UUID, which nobody can guess.
  package let token: String
  /// The secret with which the device answers; nil if it is in no payload.
  package let secret: String?

  package init(job: Int, token: String, secret: String? = nil) {
    (self.job, self.token, self.secret) = (job, token, secret)
  }

  /// One with the longest values that there are.
  static let longest = JobSuffix(
    job: .max, token: String(repeating: "0", count: 36), secret: String(repeating: "0", count: 83))

  var text: String { "&to=\(job).\(token)" }

  /// The secret as a member that follows another one; empty without a secret.
  var member: String { secret.map { ",\"richSecret\":\(JSONText.quoted($0))" } ?? "" }

  /// Splits a link into the part that all devices share and the job; nil if it does not end with a job.
  package static func splitting(_ link: String) -> (shared: String, suffix: JobSuffix)? {
    guard let start = link.ranges(of: "&to=").last else { return nil }
    let words = link[start.upperBound...].split(separator: ".", omittingEmptySubsequences: false)
    guard words.count == 2, let job = Int(words[0]), String(job) == words[0],
      !words[1].contains("&")
    else { return nil }
    return (String(link[..<start.lowerBound]), JobSuffix(job: job, token: String(words[1])))
  }
}
