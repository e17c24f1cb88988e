import Foundation
import RichPushAPI
import Testing

@testable import Push

/// What WebKit's parser demands of a declarative message (NotificationJSONParser.cpp, Safari 18.4).
struct WebKitRules {
  /// What a member has to be; `isRequired` members have to be there.
  private static let table:
    [(member: String, isRequired: Bool, rule: @Sendable (JSONValue) -> Bool)] = [
      ("title", true, { $0.text?.isEmpty == false }),
      ("navigate", true, isURL), ("body", false, isText), ("tag", false, isText),
      ("lang", false, isText), ("icon", false, isURL),
      ("dir", false, { ["auto", "ltr", "rtl"].contains($0.text ?? "") }),
      ("silent", false, isBool), ("mutable", false, isBool), ("app_badge", false, isBadge),
      ("data", false, { _ in true }),
    ]

  @Sendable private static func isText(_ value: JSONValue) -> Bool { value.text != nil }
  @Sendable private static func isBool(_ value: JSONValue) -> Bool {
    if case .bool = value { true } else { false }
  }
  @Sendable private static func isURL(_ value: JSONValue) -> Bool {
    value.text.flatMap(URL.init(string:))?.scheme != nil
  }
  @Sendable private static func isBadge(_ value: JSONValue) -> Bool {
    (value.text.flatMap { UInt64($0) } ?? value.integer.flatMap { UInt64(exactly: $0) }) != nil
  }

  /// What is wrong with a message; empty for one that the browser shows by itself.
  static func faults(_ json: String) -> [String] {
    guard let message = JSONValue(json.utf8) else { return ["no JSON"] }
    var faults: [String] = []
    if message.web_push.integer != 8030 { faults.append("web_push") }
    guard let notification = message.notification.members else { return faults + ["notification"] }
    for (member, isRequired, rule) in table {
      let isRight = notification[member].map(rule) ?? !isRequired
      if !isRight { faults.append(member) }
    }
    // By the specification these are beside the notification.
    if !isBool(message.mutable) { faults.append("top-level mutable") }
    if message.app_badge != notification["app_badge"] ?? .null {
      faults.append("top-level app_badge")
    }
    return faults
  }
}

/// Pushes that browsers of Apple show without a worker.
@Suite(.timeLimit(.minutes(1))) struct DeclarativePayloadTests {
  private func push(
    _ message: NotificationMessage, form: PushForm = .alert,
    page: String? = "https://a.example/push/#7"
  ) -> PushMessage {
    var push = PushMessage(7, message, richType: "img", form: form)
    push.media = MediaLink(url: "https://push.example/m?s=a", type: "image/png", size: 9)
    push.page = page
    push.collapseID = message.replaces.map { "replaces-\($0)" } ?? "rich-7"
    return push
  }

  /// The payload of a declarative message, judged.
  private func payload(_ push: PushMessage) throws -> JSONValue {
    let template = PayloadTemplate.declarative(push)
    let json = template.payload(
      badge: 12, job: JobSuffix(job: 1, token: "00000000-0000-4000-8000-000000000007")
    ).json
    #expect(WebKitRules.faults(json) == [], "\(json)")
    #expect(template.largestSize <= PushPayload.webLimit && json.utf8.count <= PushPayload.webLimit)
    return try #require(JSONValue(json.utf8))
  }

  @Test func `it has what the browser shows and what every browser gets`() {
    var message = NotificationMessage("Your parcel is at the door.")
    (message.title, message.subtitle) = ("Parcel", "Order 4711")
    (message.link, message.sound) = ("https://shop.example/4711", .silent)
    var push = push(message)
    push.countsUnread = true
    let (plain, whole) = (PayloadTemplate.web(push), PayloadTemplate.declarative(push))
    #expect(
      whole.payload(badge: 12).json
        == #"{"web_push":8030,"notification":{"title":"Parcel","#
        + #""body":"Order 4711\nYour parcel is at the door.","navigate":"https://shop.example/4711","#
        + #""tag":"rich-7","silent":true,"mutable":true,"app_badge":12},"mutable":true,"app_badge":12,"#
        + plain.payload().json.dropFirst())
    #expect(WebKitRules.faults(whole.payload(badge: 12).json) == [])
  }

  @Test func `every kind of message is one that the browser takes`() throws {
    let texts: [(title: String?, text: String)] = [
      (nil, "Look"), ("Parcel", ""), (nil, ""), (nil, " \n"), ("Parcel", "a\"\\\u{1}\u{2}👨‍👩‍👧"),
      ("Parcel", String(repeating: "ä\"", count: 3000)),
      (nil, String(repeating: "ä\"", count: 3000)),
    ]
    for (title, text) in texts {
      for form in PushForm.allCases {
        for lockScreen in [nil, .public, .private, .secret] as [NotificationMessage.LockScreen?] {
          var message = NotificationMessage(text)
          (message.title, message.lockScreen) = (title, lockScreen)
          var push = push(message, form: form)
          push.countsUnread = true
          let found = try payload(push)
          #expect(found.notification.navigate.text == "https://a.example/push/#7")
          #expect((found.app_badge.integer == 12) == (form == .alert || form == .hybrid))
        }
      }
    }
    #expect(
      try payload(push(MessageMembersTests.whole)).notification.tag.text == "replaces-order-4711")
  }

  @Test func `a private message declares none of its texts`() throws {
    var message = MessageMembersTests.whole
    for kind in [NotificationMessage.LockScreen.private, .secret] {
      message.lockScreen = kind
      let found = try payload(push(message))
      #expect(found.notification.title.text == "New notification")
      #expect(found.notification.body == .null && found.notification.icon == .null)
    }
  }

  @Test func `without an address to open it is what every browser gets`() {
    var message = NotificationMessage("Look")
    for link in [nil, "myapp://orders"] {
      message.link = link
      let push = push(message, page: nil)
      #expect(PayloadTemplate.declarative(push) == PayloadTemplate.web(push))
    }
    let plain = PushMessage(text: "From alice: hi")
    #expect(PayloadTemplate.declarative(plain) == PayloadTemplate.web(plain))
  }

  @Test func `what has no room twice is what every browser gets`() {
    var message = NotificationMessage("Look")
    message.title = String(repeating: "t", count: 1024)
    message.link = "https://a.example/" + String(repeating: "x", count: 1980)
    let push = push(message)
    #expect(PayloadTemplate.web(push).largestSize <= PushPayload.webLimit)
    #expect(PayloadTemplate.declarative(push) == PayloadTemplate.web(push))
  }

  @Test(
    arguments: [
      #"{"notification":{"requireInteraction":true,"title":"Other","app_badge":3}}"#,
      #"{"notification":{"body":null,"tag":null,"icon":"https://a.example/i.png","dir":"rtl"}}"#,
      #"{"notification":{"navigate":"https://a.example/x","silent":false,"lang":"de"},"own":1}"#,
    ])
  func `an override that is accepted leaves one that the browser takes`(patch: String) throws {
    var message = NotificationMessage("Look")
    message.webpush = JSONValue(patch.utf8)
    #expect(message.overrideFaults(in: .alert, countsUnread: false) == [])
    let json = PayloadTemplate.declarative(push(message)).payload().json
    #expect(WebKitRules.faults(json).filter { $0 != "top-level app_badge" } == [], "\(json)")
  }

  @Test(arguments: [
    ("https://web.push.apple.com", true), ("https://push.apple.com", true),
    ("https://eu.web.push.apple.com:8443", true), ("https://web.push.apple.com.example", false),
    ("https://evilpush.apple.com.example", false), ("https://notpush.apple.com", false),
    ("https://updates.push.services.mozilla.com", false), ("https://localhost:8443", false),
  ])
  func `only services of Apple get it, and nobody else another byte`(
    origin: String, isApple: Bool
  ) throws {
    let sender = try WebPushSender(
      key: .sample, settings: WebPushSettings(contact: "mailto:ops@example.com"))
    let push = push(NotificationMessage("Look"))
    let payload = sender.provider(for: origin).payload(of: push)
    #expect(payload == (isApple ? .declarative(push) : .web(push)))
    #expect(payload.payload().json.contains("web_push") == isApple)
  }
}
