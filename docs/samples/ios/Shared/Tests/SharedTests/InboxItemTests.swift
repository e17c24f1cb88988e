import Foundation
import RichPushClient
import Shared
import Testing

@Suite struct InboxItemTests {
  private func item(_ members: [String: Any]) throws -> InboxItem {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let usual: [String: Any] = [
      "id": 7, "to": ["username:alice"], "read": false, "created": "2026-11-29T05:00:00Z",
      "media": "/api/notifications/7", "details": [:] as [String: Any], "message": "",
    ]
    let data = try JSONSerialization.data(withJSONObject: usual.merging(members) { $1 })
    return InboxItem(try decoder.decode(RichNotification.self, from: data))
  }

  @Test func `the title is the heading, and the text of one without`() throws {
    let whole = try item(["title": "Parcel", "subtitle": " ", "message": "At the door"])
    #expect(whole.heading == "Parcel" && whole.lines == ["At the door"] && whole.isUnread)
    let plain = try item(["message": "At the door", "read": true])
    #expect(plain.heading == "At the door" && plain.lines.isEmpty && !plain.isUnread)
    #expect(plain.time == ISO8601DateFormatter().date(from: "2026-11-29T05:00:00Z"))
  }

  @Test func `media is shown by its kind, a picture in its shape`() throws {
    let picture = try item([
      "richType": "img", "alt": "A beach", "details": ["width": 400, "height": 300],
    ])
    #expect(
      picture.media == .picture(aspectRatio: 4.0 / 3) && picture.mediaDescription == "A beach")
    #expect(try item(["richType": "img"]).media == .picture(aspectRatio: nil))
    #expect(try item(["richType": "video"]).media == .film)
    #expect(try item(["richType": "sound"]).media == .sound)
    #expect(try item(["richType": "coupon"]).media == .other)
    #expect(try item([:]).media == nil)
  }

  @Test func `a link leads to the web only`() throws {
    let card = try item(["richType": "url", "details": ["url": "https://shop.example/"]])
    #expect(card.media == URL(string: "https://shop.example/").map(InboxItem.Media.link))
    #expect(try item(["richType": "url", "payload": "welcome.url"]).media == .other)
    #expect(try item(["link": "https://shop.example/4711"]).link?.host == "shop.example")
    #expect(try item(["link": "javascript:alert(1)"]).link == nil)
  }

  @Test func `buttons do what they say, and report it`() throws {
    let buttons = try item([
      "actions": [
        ["id": "track", "label": "Track", "link": "https://shop.example/t"],
        ["id": "answer", "label": "Reply", "input": "Your answer"],
        ["id": "later", "label": "Later", "dismiss": true],
        ["id": "cancel", "label": "Cancel order", "destructive": true],
      ]
    ]).buttons
    #expect(buttons.map(\.opensApp) == [true, false, false, false])
    #expect(buttons[1].effect == .ask(question: "Your answer"))
    #expect(buttons[2].effect == .dismiss && buttons[3].effect == .report)
    #expect(buttons.map(\.isDestructive) == [false, false, false, true])
    #expect(buttons[0].interaction() == .action("track"))
    let reply = buttons[1].interaction(text: "On my way")
    #expect(reply?.event == .reply && reply?.text == "On my way")
    #expect(buttons[1].interaction() == nil)
  }

  @Test func `the app's own categories have names of their own`() {
    #expect(CategoryDescription.all.allSatisfy { !$0.id.hasPrefix("richpush-") })
    #expect(CategoryDescription.all[0].buttons.map(\.id) == ["answer", "cancel"])
  }

  @Test func `an attachment's name ends as iOS expects`() {
    #expect(AttachmentType.ending(of: "image/jpeg") == "jpg")
    #expect(AttachmentType.ending(of: "video/mp4; codecs=avc1") == "mp4")
    #expect(AttachmentType.ending(of: "text/html") == nil)
  }
}
