import Foundation
import RichPushAPI
import Testing

@testable import Push

/// The payloads of messages that have a text only, byte for byte, as every release has sent them.
@Suite(.timeLimit(.minutes(1))) struct PayloadTests {
  private static let link = MediaLink(
    url: "https://push.example/m/7?s=a&e=1", type: "image/png", size: 20_480)
  private let suffix = JobSuffix(job: 12, token: "00000000-0000-4000-8000-000000000007")

  private func message(
    _ text: String = "Check this image out!", id: Int = 7, as form: PushForm = .alert,
    richType: String = "img", media: MediaLink? = nil, countsUnread: Bool = false
  ) -> PushMessage {
    var message = PushMessage(id, NotificationMessage(text), richType: richType, form: form)
    (message.media, message.countsUnread) = (media, countsUnread)
    return message
  }

  @Test func `writes the silent push exactly`() {
    let template = PayloadTemplate.apple(message("…", as: .silent, media: Self.link))
    #expect(
      template.payload(job: suffix).json
        == #"{"aps":{"content-available":1},"richId":"7","richMessage":"…","richType":"img"}"#)
    #expect(template.kind == .background)
  }

  @Test func `writes the tutorial's text space for space`() {
    #expect(
      PayloadTemplate.apple(message(as: .legacy, media: Self.link)).payload(job: suffix).json
        == #"{"aps": {"content-available": 1, "sound":""}, "richId": "7",  "#
        + #""richMessage": "Check this image out!", "richType": "img"}"#)
  }

  @Test func `writes an alert for a service extension with a signed link of the job`() {
    let template = PayloadTemplate.apple(message(media: Self.link, countsUnread: true))
    #expect(
      template.payload(badge: 3, job: suffix).json
        == #"{"aps":{"alert":{"body":"Check this image out!"},"mutable-content":1,"badge":3},"#
        + #""richId":"7","richType":"img","att":{"url":"https://push.example/m/7?s=a&e=1"#
        + #"&to=12.00000000-0000-4000-8000-000000000007","type":"image/png","size":20480}}"#)
    #expect(template.kind == .alert)
  }

  @Test func `writes a hybrid that old and new apps understand`() {
    #expect(
      PayloadTemplate.apple(message("hi", id: 0, as: .hybrid, richType: "url")).payload().json
        == #"{"aps":{"alert":{"body":"hi"},"mutable-content":1,"content-available":1},"#
        + #""richId":"0","richMessage":"hi","richType":"url"}"#)
  }

  @Test func `writes a plain alert as the tutorial's notify-users call does`() {
    let alert = PushMessage(text: "From alice: hi")
    #expect(
      PayloadTemplate.apple(alert).payload().json == #"{"aps":{"alert":"From alice: hi"}}"#)
    #expect(PayloadTemplate.web(alert).payload().json == #"{"richMessage":"From alice: hi"}"#)
  }

  @Test(arguments: PushForm.allCases)
  func `a browser gets the same text in every form`(form: PushForm) {
    #expect(
      PayloadTemplate.web(message(as: form, media: Self.link)).payload(job: suffix).json
        == #"{"richId":"7","richMessage":"Check this image out!","richType":"img","att":{"url":"#
        + #""https://push.example/m/7?s=a&e=1&to=12.00000000-0000-4000-8000-000000000007","#
        + #""type":"image/png","size":20480}}"#)
  }

  @Test(arguments: [(0, "0"), (7, "7"), (999_999, "999999"), (1_000_000, "999999")])
  func `a badge has the unread count`(unread: Int, shown: String) {
    let template = PayloadTemplate.apple(message(countsUnread: true))
    #expect(template.payload(badge: unread).json.contains(#""badge":\#(shown)}"#))
    #expect(template.largestSize >= template.payload(badge: unread).json.utf8.count)
  }

  @Test func `what has buttons carries the secret of its push, in no link, and nothing else does`()
    throws
  {
    var asked = message(media: Self.link)
    asked.message.actions = [MessageAction("yes", label: "Yes")]
    let secret = "12.1.AAAA"
    let job = JobSuffix(job: 12, token: suffix.token, secret: secret)
    for make in [PayloadTemplate.apple, PayloadTemplate.web] {
      let template = make(asked)
      let json = try #require(JSONValue(Array(template.payload(job: job).json.utf8)))
      #expect(template.hasSecret && json.richSecret.text == secret)
      #expect(json.att.url.text?.contains(secret) == false)
      #expect(try #require(JSONValue(Array(template.payload().json.utf8))).richSecret == .null)
      #expect(!make(message(media: Self.link)).hasSecret)
      #expect(template.largestSize >= template.payload(job: job).json.utf8.count)
    }
    for kind in FCMMessageKind.allCases {
      let template = PayloadTemplate.firebase(asked, as: kind)
      let json = try #require(JSONValue(Array(template.payload(job: job).json.utf8)))
      #expect(json.data.richSecret.text == secret)
    }
  }

  @Test func `a message cannot look like a gap`() {
    let text = "\u{1}\u{2}&to=1.x"
    let json = PayloadTemplate.apple(message(text, media: Self.link)).payload(job: suffix).json
    #expect(json.contains(#"{"body":"\u0001\u0002&to=1.x"}"#))
    #expect(json.contains(#"e=1&to=12.00000000-0000-4000-8000-000000000007","#))
  }

  @Test(arguments: PushForm.allCases)
  func `stays valid JSON whatever the message holds`(form: PushForm) throws {
    let text = "a\"b\\c\u{0}\u{1f}\n\r\t\u{7f}\u{2028}é👨‍👩‍👧 </script>"
    let json = PayloadTemplate.apple(message(text, id: 1, as: form)).payload().json
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let aps = try #require(object["aps"] as? [String: Any])
    let alert = (aps["alert"] as? [String: Any])?["body"] as? String
    #expect((object["richMessage"] as? String ?? alert) == text)
    #expect(object["richId"] as? String == "1")
  }

  @Test(arguments: PushForm.allCases, ["é", "\"", "\u{1}", "👨‍👩‍👧", "x"])
  func `shortens a long message between two characters`(form: PushForm, unit: String) throws {
    let template = PayloadTemplate.apple(
      message(String(repeating: unit, count: 6000), id: 1, as: form))
    let json = template.payload().json
    #expect(template.isCut && template.largestSize == json.utf8.count)
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
    let frame = PayloadTemplate.apple(message("", as: .silent)).largestSize
    let whole = String(repeating: "a", count: PushPayload.limit - frame)
    let exact = PayloadTemplate.apple(message(whole, as: .silent))
    #expect(exact.largestSize == PushPayload.limit && !exact.isCut)
    #expect(exact.payload().json.contains(whole))
    let over = PayloadTemplate.apple(message(whole + "a", as: .silent))
    #expect(over.largestSize <= PushPayload.limit && over.isCut)
    #expect(over.payload().json.contains("…"))
  }

  @Test func `after the text the subtitle gives way, never the title`() throws {
    var long = message(String(repeating: "a", count: 6000), media: Self.link)
    long.message.title = String(repeating: "t", count: 1000)
    long.message.subtitle = String(repeating: "s", count: 1000)
    long.message.link = "https://push.example/" + String(repeating: "l", count: 1900)
    long.message.data = .object(["d": .string(String(repeating: "d", count: 900))])
    let template = PayloadTemplate.apple(long)
    #expect(template.isCut && template.largestSize <= PushPayload.limit)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(template.payload(job: suffix).json.utf8))
        as? [String: Any])
    let alert = try #require((object["aps"] as? [String: Any])?["alert"] as? [String: String])
    #expect(alert["title"] == long.message.title && object["link"] as? String == long.message.link)
    #expect(alert["body"] == "" && alert["subtitle"]?.hasSuffix("s…") == true)
  }

  @Test(arguments: [nil, "Parcel"])
  func `a long text takes all the space that there is`(title: String?) {
    var long = message(String(repeating: "x", count: 9000))
    (long.message.title, long.page) = (title, "https://push.example/app/#7")
    for subtitle in [nil, "Order 4711"] {
      long.message.subtitle = subtitle
      let templates: [(template: PayloadTemplate, limit: Int)] = [
        (.apple(long), PushPayload.limit), (.web(long), PushPayload.webLimit),
        (.declarative(long), PushPayload.webLimit),
        (.firebase(long, as: .notification), PushPayload.webLimit),
      ]
      for (template, limit) in templates {
        #expect(template.isCut && (limit - 8...limit).contains(template.largestSize))
      }
      #expect(PayloadTemplate.declarative(long).payload().json.hasPrefix(#"{"web_push":8030"#))
    }
  }

  @Test func `what cannot be shortened enough is too large`() {
    var long = message("a")
    long.message.title = String(repeating: "\"", count: 1024)
    long.message.link = "https://push.example/" + String(repeating: "l", count: 1900)
    long.message.data = .object(["d": .string(String(repeating: "d", count: 1000))])
    #expect(PayloadTemplate.apple(long).largestSize > PushPayload.limit)
  }

  @Test func `a link is taken apart at its very end only`() throws {
    let token = suffix.token
    let whole = try #require(
      JobSuffix.splitting("/media/7/ios?expires=9&signature=x&to=12.\(token)"))
    #expect(whole.shared == "/media/7/ios?expires=9&signature=x" && whole.suffix == suffix)
    for address in [
      "", "/media/7/ios?expires=9", "/media/7/ios?to=12.a", "/a?b&to=", "/a?b&to=12", "/a?b&to=x.y",
      "/a?b&to=1.2.3", "/media/7/ios?expires=9&to=12.a&signature=x",
    ] {
      #expect(JobSuffix.splitting(address) == nil, "\(address)")
    }
  }
}
