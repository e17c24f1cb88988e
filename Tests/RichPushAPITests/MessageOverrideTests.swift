import Foundation
import Testing

@testable import RichPushAPI

/// What a publisher may change of finished payloads.
@Suite(.timeLimit(.minutes(1))) struct MessageOverrideTests {
  private static func new(_ json: String) throws -> NewNotification {
    try JSONCoding.request(from: Array(#"{"to":"a","message":"m",\#(json)}"#.utf8))
  }

  /// The members that are wrong, in their order.
  private static func faults(
    _ json: String, in form: PushForm = .alert, countsUnread: Bool = false
  ) throws -> [String] {
    let faults = try new(json).message.overrideFaults(in: form, countsUnread: countsUnread)
    #expect(faults.allSatisfy { $0.code == .rejected && $0.reason.hasSuffix(".") })
    return faults.map(\.member)
  }

  @Test(
    arguments: [
      #""apns":{}"#, #""apns":{"aps":{"filter-criteria":"work","alert":{"body":null}}}"#,
      #""apns":{"aps":{"alert":"Look"},"own":[1,{"a":null}],"richType":null}"#,
      #""apns":{"headers":{"apns-priority":"5"}}"#, #""apns":null"#,
      #""apns":{"aps":{"interruption-level":"active","relevance-score":1,"badge":0}}"#,
      #""fcm":{"android":{"bandwidthConstrainedOk":true,"priority":null}}"#,
      #""fcm":{"notification":{"title":"t","image":null},"data":{"own":"x","icon":null}}"#,
      ##""fcm":{"android":{"notification":{"vibrateTimings":["0.5s","1s"],"color":"#00aa77"}}}"##,
      #""fcm":{"apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"badge":1}}}}"#,
      #""fcm":{"webpush":{"fcmOptions":{"link":"https://a.example"}}}"#,
      #""webpush":{"notification":{"requireInteraction":true,"vibrate":[100,50]},"own":1}"#,
      #""webpush":{"headers":{"Urgency":"very-low"}}"#,
    ])
  func `an override may set, and remove, what is the publisher's own`(json: String) throws {
    #expect(try Self.faults(json) == [])
  }

  @Test(
    arguments: [
      (#""apns":{"richId":"8"}"#, ["apns.richId"]),
      (#""apns":{"richIds":null,"att":null}"#, ["apns.att", "apns.richIds"]),
      (#""apns":{"aps":null}"#, ["apns.aps"]), (#""apns":{"aps":"x"}"#, ["apns.aps"]),
      (#""apns":{"aps":{"content-available":1}}"#, ["apns.aps.content-available"]),
      (
        #""apns":{"headers":{"apns-topic":"a","apns-priority":"7","apns-push-type":"voip"}}"#,
        [
          "apns.headers.apns-priority", "apns.headers.apns-push-type", "apns.headers.apns-topic",
        ]
      ),
      (#""apns":{"headers":{"apns-priority":5}}"#, ["apns.headers.apns-priority"]),
      (
        #""apns":{"aps":{"badge":-1,"sound":{"critical":1},"interruption-level":"critical"}}"#,
        ["apns.aps.badge", "apns.aps.interruption-level", "apns.aps.sound"]
      ),
      (#""apns":{"aps":{"alert":7,"thread-id":1}}"#, ["apns.aps.alert", "apns.aps.thread-id"]),
      (#""apns":{"aps":{"alert":{"loc-args":["a",1]}}}"#, ["apns.aps.alert.loc-args[1]"]),
      (#""apns":[]"#, ["apns"]), (#""apns":"x""#, ["apns"]), (#""apns":7"#, ["apns"]),
      (
        #""fcm":{"token":"t","fid":null,"topic":"a","condition":"b","name":"n"}"#,
        ["fcm.condition", "fcm.fid", "fcm.name", "fcm.token", "fcm.topic"]
      ),
      (
        #""fcm":{"android":{"ttl":"1s","collapseKey":"k"},"androidV2":{},"validateOnly":true}"#,
        ["fcm.android.collapseKey", "fcm.android.ttl", "fcm.androidV2", "fcm.validateOnly"]
      ),
      (#""fcm":{"android":null,"data":null}"#, ["fcm.android", "fcm.data"]),
      (
        #""fcm":{"data":{"richId":"8","attUrl":null,"n":1,"from":"x"}}"#,
        ["fcm.data.attUrl", "fcm.data.from", "fcm.data.n", "fcm.data.richId"]
      ),
      // A name that would be several steps of a path is told by its object.
      (#""fcm":{"data":{"google.x":"1","gcm.y":"2"}}"#, ["fcm.data", "fcm.data"]),
      (#""fcm":{"android":{"data":{"richId":"8"}}}"#, ["fcm.android.data.richId"]),
      (
        #""fcm":{"android":{"notification":{"channel_id":"c","sticky":"yes","visibility":"public"}}}"#,
        [
          "fcm.android.notification.channel_id", "fcm.android.notification.sticky",
          "fcm.android.notification.visibility",
        ]
      ),
      (
        #""fcm":{"notification":{"image":"https://other.example/x.png"}}"#,
        ["fcm.notification.image"]
      ),
      (
        #""fcm":{"apns":{"payload":{"aps":{"sound":{"critical":1}}}}}"#,
        ["fcm.apns.payload.aps.sound"]
      ),
      (#""webpush":{"web_push":8030,"richId":"8"}"#, ["webpush.richId", "webpush.web_push"]),
      (
        #""webpush":{"headers":{"TTL":"1","Topic":"t","Urgency":"soon"}}"#,
        ["webpush.headers.TTL", "webpush.headers.Topic", "webpush.headers.Urgency"]
      ),
      (
        #""webpush":{"att":{},"notification":{"title":"","navigate":"/x","silent":1}}"#,
        [
          "webpush.att", "webpush.notification.navigate", "webpush.notification.silent",
          "webpush.notification.title",
        ]
      ),
      (#""webpush":{"notification":null}"#, ["webpush.notification"]),
    ])
  func `what is the server's, or of the wrong type, is refused by its name`(
    json: String, members: [String]
  ) throws {
    #expect(try Self.faults(json) == members)
  }

  @Test func `a push that shows nothing stays one, and the badge is the server's if it counts`()
    throws
  {
    let json =
      #""apns":{"aps":{"alert":"a","badge":1,"sound":"s"},"headers":{"apns-priority":"10"}}"#
    #expect(try Self.faults(json) == [])
    #expect(
      try Self.faults(json, in: .silent) == [
        "apns.aps.alert", "apns.aps.badge", "apns.aps.sound", "apns.headers.apns-priority",
      ])
    #expect(try Self.faults(json, countsUnread: true) == ["apns.aps.badge"])
    let badge = #""webpush":{"notification":{"app_badge":1}}"#
    #expect(try Self.faults(badge) == [])
    #expect(try Self.faults(badge, countsUnread: true) == ["webpush.notification.app_badge"])
  }

  @Test func `each has at most 2,048 bytes and eight levels`() throws {
    func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    let frame = #"{"a":""}"#.utf8.count
    for name in ["apns", "webpush"] {
      #expect(try Self.faults(#""\#(name)":{"a":"\#(text(2048 - frame))"}"#) == [])
      #expect(try Self.faults(#""\#(name)":{"a":"\#(text(2049 - frame))"}"#) == [name])
      func nested(_ depth: Int) -> String {
        String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
      }
      #expect(try Self.faults(#""\#(name)":\#(nested(8))"#) == [])
      #expect(try Self.faults(#""\#(name)":\#(nested(9))"#) == [name])
      #expect(try Self.faults(#""\#(name)":\#(nested(400))"#) == [name])
    }
  }

  @Test func `an override is stored with its nulls, and a change replaces all of it`() throws {
    let old = try Self.new(#""apns":{"a":1,"b":null},"fcm":{"data":{"x":"1"}}"#)
    #expect(NotificationMessage("m", members: old.message.members) == old.message)
    func changed(_ patch: String) throws -> NotificationMessage {
      try old.changed(by: Array(patch.utf8)).message
    }
    let new = try changed(#"{"apns":{"c":null},"fcm":null,"webpush":{"d":[null]}}"#)
    #expect(new.apns == .object(["c": .null]) && new.fcm == nil)
    #expect(new.webpush == .object(["d": .array([.null])]))
    #expect(try changed("{}") == old.message)
    var amendment = Amendment()
    (amendment.apns, amendment.fcm) = (.value(.object(["c": .null])), .removal)
    #expect(JSONCoding.text(amendment) == #"{"apns":{"c":null},"fcm":null}"#)
  }
}
