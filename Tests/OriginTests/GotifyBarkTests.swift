import Foundation
import HTTP
import RichPushAPI
import Testing

@testable import Origin

/// What the APIs of Gotify and Bark make of a message.
@Suite struct GotifyBarkTests {
  private static func members(_ text: String) -> [String: JSONValue] {
    JSONValue(text.utf8)?.members ?? [:]
  }

  @Test func `a message of Gotify is a notification with its extras`() throws {
    let message = try GotifyMessage(
      Self.members(
        #"""
        {"title":"T {{a}}","message":"M","priority":"8","extras":{
          "client::display":{"contentType":"text/markdown"},
          "client::notification":{"click":{"url":"https://e.org/a b"},"bigImageUrl":"https://e.org/i.png"},
          "home::appliance":{"lights":true}}}
        """#))
    let new = try message.notification(to: .anyTag(["news"]))
    #expect(new.message.title == "T {{{{a}}" && new.message.text == "M" && new.form == .alert)
    #expect(new.message.importance == .high && new.message.link == "https://e.org/a%20b")
    #expect(new.richType == "url" && new.payload == "https://e.org/i.png")
    #expect(new.message.data == .object(["home::appliance": .object(["lights": .bool(true)])]))
    #expect(new.audience == .anyTag(["news"]))
  }

  @Test(
    arguments: [
      (0, .min), (-1, .min), (1, .low), (3, .low), (4, nil), (7, nil), (8, .high), (10, .high),
    ] as [(Int, NotificationMessage.Importance?)])
  func `Gotify's priorities are levels of importance`(
    priority: Int, importance: NotificationMessage.Importance?
  ) throws {
    let message = try GotifyMessage([
      "message": .string("M"), "priority": .number(Double(priority)),
    ])
    #expect(try message.notification(to: .anyTag(["a"])).message.importance == importance)
  }

  @Test(arguments: [
    "{}", #"{"message":""}"#, #"{"message":{}}"#, #"{"message":"M","priority":"high"}"#,
    #"{"message":"M","titel":"a"}"#, #"{"message":"M","extras":[]}"#,
    #"{"message":"M","extras":{"android::action":{}}}"#,
    #"{"message":"M","extras":{"client::display":{"contentType":"text/html"}}}"#,
    #"{"message":"M","extras":{"client::notification":{"sound":"a"}}}"#,
    #"{"message":"M","extras":{"client::notification":{"bigImageUrl":"http://localhost/a"}}}"#,
  ])
  func `what Gotify's API does not have, or we do not, is refused`(body: String) {
    #expect(throws: ServiceError.self) {
      try GotifyMessage(Self.members(body)).notification(to: .anyTag(["a"]))
    }
  }

  @Test func `a message of Bark is a notification`() throws {
    let now = Date(timeIntervalSince1970: 1000)
    let message = try BarkMessage(
      Self.members(
        #"""
        {"device_key":"k","title":"T","subtitle":"S","body":"B {{b}}","level":"timeSensitive","group":"G",
         "sound":"minuet","icon":"https://e.org/i.png","url":"https://e.org","ttl":"60","id":"build-42",
         "isArchive":"1","image":"https://e.org/p.png"}
        """#), to: .anyTag(["news"]), now: now)
    let new = message.notification
    #expect(new.message.title == "T" && new.message.subtitle == "S")
    #expect(new.message.text == "B {{{{b}}" && new.message.importance == .high)
    #expect(new.message.thread == "G" && new.message.sound == .named("minuet.caf"))
    #expect(new.message.link == "https://e.org" && new.message.icon == "https://e.org/i.png")
    #expect(new.message.replaces == "build-42" && message.id == "build-42" && !message.isDeletion)
    #expect(
      new.expires == Date(timeIntervalSince1970: 1060) && new.payload == "https://e.org/p.png")
  }

  @Test(arguments: [
    #"{"body":"B","ciphertext":"a"}"#, #"{"body":"B","call":1}"#,
    #"{"body":"B","level":"loud"}"#, #"{"body":"B","automaticallyCopy":"1"}"#,
    #"{"body":"B","ttl":"0"}"#,
    #"{"body":"B","ttl":"soon"}"#, #"{"body":"B","delete":"1"}"#, #"{"body":"B","volume":5}"#,
    #"{"body":"B","colour":"red"}"#, #"{"body":"B","copy":"123"}"#, #"{"body":["B"]}"#,
    #"{"body":"B","device_keys":"a"}"#, #"{"body":"B","image":"http://10.0.0.1/a"}"#,
  ])
  func `what Bark's API does not have, or we do not, is refused`(body: String) {
    #expect(throws: ServiceError.self) {
      try BarkMessage(Self.members(body), to: .anyTag(["a"]), now: Date())
    }
  }

  @Test func `no log has a token, wherever clients write it`() throws {
    for target in [
      "/rpt_abc/title/body", "/message?token=rpt_abc", "/news?auth=QmFzaWM", "/%72pt_abc",
      "/message?token=abc", "/news?A=b&Auth=c",
    ] {
      #expect(try Request("GET", target).loggedTarget == "/-", "\(target)")
    }
  }
}
