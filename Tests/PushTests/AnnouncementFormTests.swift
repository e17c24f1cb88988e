import Foundation
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct AnnouncementFormTests {
  private let content = AnnouncementContent(
    id: 7, message: "Check this image out!", richType: "img",
    media: MediaLink(url: "https://push.example/m/7?s=a&e=1", type: "image/png", size: 20_480),
    countsUnread: true)

  @Test func `writes the silent push exactly`() {
    let push = AnnouncementForm.silent.text(
      of: AnnouncementContent(id: 7, message: "…", richType: "img"))
    #expect(
      push.json
        == #"{"aps":{"content-available":1},"richId":"7","richMessage":"…","richType":"img"}"#)
    #expect(push.kind == .background)
    #expect(push.kind.priority == 5)
  }

  @Test func `writes the tutorial's text space for space`() {
    #expect(
      AnnouncementForm.legacy.text(of: content).json
        == #"{"aps": {"content-available": 1, "sound":""}, "richId": "7",  "#
        + #""richMessage": "Check this image out!", "richType": "img"}"#)
  }

  @Test func `writes an alert for a service extension with a signed address`() {
    let push = AnnouncementForm.alert.text(of: content)
    #expect(
      push.json
        == #"{"aps":{"alert":{"body":"Check this image out!"},"mutable-content":1,"badge":999999},"#
        + #""richId":"7","richType":"img","att":{"url":"https://push.example/m/7?s=a&e=1","#
        + #""type":"image/png","size":20480}}"#)
    #expect(push.kind == .alert)
    #expect(push.kind.priority == 10)
  }

  @Test func `writes a hybrid that old and new apps understand`() {
    let content = AnnouncementContent(id: 0, message: "hi", richType: "url")
    #expect(
      AnnouncementForm.hybrid.text(of: content).json
        == #"{"aps":{"alert":{"body":"hi"},"mutable-content":1,"content-available":1},"#
        + #""richId":"0","richMessage":"hi","richType":"url"}"#)
  }

  @Test func `writes a plain alert as the tutorial's notify-users call does`() {
    #expect(
      PushPayload.plainAlert("From alice: hi").json == #"{"aps":{"alert":"From alice: hi"}}"#)
  }

  @Test(arguments: AnnouncementForm.allCases)
  func `stays valid JSON whatever the message holds`(form: AnnouncementForm) throws {
    let message = "a\"b\\c\u{0}\u{1f}\n\r\t\u{7f}\u{2028}é👨‍👩‍👧 </script>"
    let json = form.text(of: AnnouncementContent(id: 1, message: message, richType: "img")).json
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let aps = try #require(object["aps"] as? [String: Any])
    let alert = (aps["alert"] as? [String: Any])?["body"] as? String
    #expect((object["richMessage"] as? String ?? alert) == message)
    #expect(object["richId"] as? String == "1")
  }

  @Test(arguments: AnnouncementForm.allCases, ["é", "\"", "\u{1}", "👨‍👩‍👧", "x"])
  func `shortens a long message between two characters`(form: AnnouncementForm, unit: String) throws
  {
    let message = String(repeating: unit, count: 6000)
    let json = form.text(of: AnnouncementContent(id: 1, message: message, richType: "img")).json
    #expect(json.utf8.count <= PushPayload.limit)
    #expect(json.utf8.count > PushPayload.limit - 100)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let alert = (object["aps"] as? [String: Any])?["alert"] as? [String: Any]
    let text = try #require((object["richMessage"] ?? alert?["body"]) as? String)
    #expect(text.last == "…")
    #expect(text.dropLast().allSatisfy { String($0) == unit })
  }

  @Test func `keeps a message whole that fits to the byte`() {
    let frame = AnnouncementForm.silent.text(
      of: AnnouncementContent(id: 1, message: "", richType: "img")
    ).json
    let room = PushPayload.limit - frame.utf8.count
    let whole = String(repeating: "a", count: room)
    let exact = AnnouncementForm.silent.text(
      of: AnnouncementContent(id: 1, message: whole, richType: "img"))
    #expect(exact.json.utf8.count == PushPayload.limit)
    #expect(exact.json.contains(whole))
    let over = AnnouncementForm.silent.text(
      of: AnnouncementContent(id: 1, message: whole + "a", richType: "img"))
    #expect(over.json.utf8.count <= PushPayload.limit)
    #expect(over.json.contains("…"))
  }
}
