import Foundation
import RichPushAPI

@testable import Push

/// Messages that have all members, with each value that platforms spell in their own way.
enum WholeMessages {
  /// One with every member but those that change finished payloads.
  static let whole = {
    var message = MessageMembersTests.whole
    (message.apns, message.fcm, message.webpush) = (nil, nil, nil)
    return message
  }()

  /// Those that differ from it in one member, and one of a text alone.
  static let all: [NotificationMessage] = {
    var all = [whole, NotificationMessage("Look")]
    func add(_ change: (inout NotificationMessage) -> Void) {
      var message = whole
      change(&message)
      all.append(message)
    }
    for sound in [MessageSound.silent, .default, .named("chime.caf"), .critical(volume: 0.5)] {
      add { $0.sound = sound }
    }
    for importance in NotificationMessage.Importance.allCases { add { $0.importance = importance } }
    for lockScreen in NotificationMessage.LockScreen.allCases { add { $0.lockScreen = lockScreen } }
    add { ($0.category, $0.title) = (nil, nil) }
    add { ($0.text, $0.subtitle) = ("", nil) }
    add { $0.text = String(repeating: "\u{1}ä\"", count: 5000) }
    return all
  }()

  /// What pushes announce of all of them, with a picture, with a film, and without media.
  static func pushes(in form: PushForm) -> [PushMessage] {
    let media = [
      MediaLink(url: "https://a.example/m?s=1&e=2", type: "image/jpeg", size: 900_000),
      MediaLink(url: "https://a.example/m", type: "video/mp4", size: 9), nil,
    ]
    return all.flatMap { message in
      media.map { media in
        var push = PushMessage(7, message, richType: media.map { _ in "img" }, form: form)
        (push.media, push.countsUnread) = (media, true)
        push.collapseID =
          message.replaces == nil ? "rich-7" : "replaces-" + String(repeating: "0f", count: 16)
        return push
      }
    }
  }
}
