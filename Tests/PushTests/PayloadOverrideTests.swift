import Foundation
import RichPushAPI
import Testing

@testable import Push

/// Payloads that a publisher has changed by a merge patch.
@Suite(.timeLimit(.minutes(1))) struct PayloadOverrideTests {
  private static let suffix = JobSuffix(job: 12, token: "00000000-0000-4000-8000-000000000007")

  private func push(
    _ override: WritableKeyPath<NotificationMessage, JSONValue?>, _ patch: String,
    text: String = "Look", form: PushForm = .alert
  ) -> PushMessage {
    var message = NotificationMessage(text)
    message.title = "Parcel"
    message[keyPath: override] = JSONValue(patch.utf8)
    var push = PushMessage(7, message, richType: "img", form: form)
    push.media = MediaLink(url: "https://push.example/m?s=a", type: "image/png", size: 9)
    return push
  }

  private func object(_ json: String) throws -> JSONValue { try #require(JSONValue(json.utf8)) }

  @Test func `Apple's payload is changed, and keeps its badge and its signed link`() throws {
    var push = push(
      \.apns,
      #"{"aps":{"filter-criteria":"work","mutable-content":null},"own":{"a":1},"headers":{"apns-priority":"1"}}"#,
      text: "\u{1}\u{2} Look")
    push.countsUnread = true
    let template = PayloadTemplate.apple(push)
    let json = template.payload(badge: 3, job: Self.suffix).json
    #expect(
      json
        == #"{"aps":{"alert":{"body":"\u0001\u0002 Look","title":"Parcel"},"badge":3,"#
        + #""filter-criteria":"work"},"att":{"size":9,"type":"image/png","url":"https://push.example/m?s=a"#
        + #"&to=12.00000000-0000-4000-8000-000000000007"},"own":{"a":1},"richId":"7","richType":"img"}"#
    )
    #expect(template.hasBadge && template.largestSize >= json.utf8.count)
    let outgoing = OutgoingPush(
      id: "1", target: .device(handle: "AB", platform: "apns"), message: push,
      text: template.payload())
    #expect(outgoing.applePriority == "1")
  }

  @Test func `without an override not a byte is another`() throws {
    for form in PushForm.allCases {
      let plain = push(\.apns, "{}", form: form)
      var none = plain
      none.message.apns = nil
      #expect(PayloadTemplate.apple(plain).payload() == PayloadTemplate.apple(none).payload())
    }
  }

  @Test(
    arguments: [
      #"{"android":{"priority":null},"data":{"own":"x"}}"#,
      #"{"android":{"directBootOk":true},"apns":{"payload":{"aps":{}}},"notification":{"title":"T"}}"#,
      #"{"fcmOptions":{"analyticsLabel":"l"},"webpush":{"headers":{"Urgency":"low"}}}"#,
    ], FCMMessageKind.allCases)
  func `a changed message for Firebase gets its recipient, key and time`(
    patch: String, kind: FCMMessageKind
  ) throws {
    let push = push(\.fcm, patch)
    let template = PayloadTemplate.firebase(push, as: kind)
    let whole = try object(template.payload().json)
    let plain = PayloadTemplate.firebase(
      self.push(\.fcm, "{}"), as: kind
    ).payload().json
    #expect(try whole == object(plain).merging(object(patch)))
    let outgoing = OutgoingPush(
      id: "1", target: .device(handle: "phone", platform: "fcm"), message: push,
      text: template.payload(), collapseID: "rich-7", expires: Date(timeIntervalSince1970: 1060))
    let request = try #require(
      FCMRequest(outgoing, to: "phone", isCollapsible: true, at: Date(timeIntervalSince1970: 1000)))
    let message = try object(String(decoding: request.json, as: UTF8.self)).message
    #expect(message.token.text == "phone" && message.android.ttl.text == "60s")
    #expect(message.android.collapseKey.text == "rich-7")
    #expect(message.data == whole.data)
  }

  @Test func `a push with buttons keeps its secret under an override`() throws {
    var message = NotificationMessage("m")
    message.actions = [MessageAction("a", label: "A")]
    message.apns = .object(["aps": .object(["filter-criteria": .string("work")]), "ä": .null])
    message.webpush = .object(["own": .number(1)])
    message.fcm = .object(["android": .object(["directBootOk": .bool(true)])])
    let push = PushMessage(7, message, richType: nil, form: .alert)
    let job = JobSuffix(job: 1, token: "t", secret: "s3cret")
    for template in [PayloadTemplate.apple(push), .web(push), .firebase(push, as: .data)] {
      #expect(template.hasSecret)
      let payload = try object(template.payload(job: job).json)
      #expect((payload.richSecret.text ?? payload.data.richSecret.text) == "s3cret")
      let changed = [
        payload.aps[dynamicMember: "filter-criteria"].text, payload.own.integer.map(String.init),
      ]
      #expect(
        changed.contains { $0 != nil } || payload.android.directBootOk == .bool(true), "\(payload)")
      // Without a job, as in a dry run, it is JSON, too.
      #expect(JSONValue(template.payload().json.utf8) != nil)
    }
  }

  @Test func `the message gives way to an override, and then nothing else does`() throws {
    let long = String(repeating: "ä", count: 3000)
    let filler = String(repeating: "x", count: 1900)
    for (override, payload) in [
      (\NotificationMessage.apns, PayloadTemplate.apple),
      (\.fcm, { PayloadTemplate.firebase($0, as: .data) }), (\.webpush, PayloadTemplate.web),
    ] as [(WritableKeyPath<NotificationMessage, JSONValue?>, (PushMessage) -> PayloadTemplate)] {
      let patch =
        override == \.fcm ? #"{"data":{"own":"\#(filler)"}}"# : #"{"own":"\#(filler)"}"#
      let template = payload(push(override, patch, text: long))
      let json = template.payload(job: Self.suffix).json
      #expect(template.isCut && template.largestSize <= PushPayload.limit)
      #expect(json.contains("…") && json.contains(filler))
      // It says what is shown instead of the message, which therefore cannot give way.
      let fixed = #"{"aps":{"alert":{"body":"\#(String(repeating: "y", count: 4000))"}}}"#
      if override == \.apns {
        #expect(
          PayloadTemplate.apple(push(override, fixed, text: long)).largestSize > PushPayload.limit)
      }
    }
  }

  @Test func `a browser's payload and urgency are changed`() throws {
    let push = push(
      \.webpush, #"{"notification":{"requireInteraction":true},"headers":{"Urgency":"low"}}"#)
    let json = PayloadTemplate.web(push).payload(job: Self.suffix).json
    #expect(try object(json).notification.requireInteraction == .bool(true))
    #expect(!json.contains("Urgency") && json.contains("&to=12."))
  }
}

/// Merge patches, judged by another implementation.
@Suite(.timeLimit(.minutes(2))) struct MergePatchSystemTests {
  @Test func `another implementation of RFC 7396 makes the same of 2,000 random patches`() throws {
    try #require(PythonTool.isInstalled, "make tools installs json-merge-patch")
    let lines = try PythonTool.run("merge_patch.py", ["2000"])
    #expect(lines.count == 2000)
    for line in lines {
      guard case .array(let values)? = JSONValue(line.utf8) else {
        Issue.record("\(line)")
        continue
      }
      try #require(values.count == 3)
      #expect(values[0].merging(values[1]) == values[2], "\(line)")
    }
  }

  @Test func `an override of Firebase's message has the types of Google's schema`() throws {
    try #require(PythonTool.isInstalled, "make tools installs google-api-python-client")
    /// What the server sets, or only removes.
    let ours: Set = [
      "name", "token", "fid", "topic", "condition", "android.ttl", "android.collapseKey",
      "notification.image", "android.notification.image", "apns.fcmOptions.image",
    ]
    let lines = try PythonTool.run("fcm_members.py")
    #expect(lines.count > 60)
    for line in lines {
      guard case .array(let values)? = JSONValue(line.utf8), values.count == 3,
        let path = values[0].text
      else {
        Issue.record("\(line)")
        continue
      }
      func faults(_ patch: JSONValue) -> [String] {
        var message = NotificationMessage("m")
        message.fcm = patch
        return message.overrideFaults(in: .alert, countsUnread: false).map(\.member)
      }
      let isOurs = ours.contains(path) || path.hasPrefix("androidV2.")
      #expect(faults(values[1]).isEmpty != isOurs, "\(path): \(values[1])")
      #expect(!faults(values[2]).isEmpty, "\(path): \(values[2])")
    }
  }
}
