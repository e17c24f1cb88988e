import Foundation
import RichPushAPI
import StandIns
import Testing

@testable import Push

/// What is sent to Firebase, judged by Google's description of the API, and by Google's own client.
@Suite(.timeLimit(.minutes(2))) struct FirebaseJudgeSystemTests {
  private static let now = Date.thisSecond
  /// A registration token, and an installation ID.
  private static let handles = ["phone", "c0123456789abcdefghijk"]

  private func outgoing(
    _ push: PushMessage, as kind: FCMMessageKind, to handle: String
  ) -> OutgoingPush {
    OutgoingPush(
      id: "1", target: .device(handle: handle, platform: "fcm"), message: push,
      text: PayloadTemplate.firebase(push, as: kind).payload(), collapseID: push.collapseID,
      expires: Self.now + 90)
  }

  /// A request, and what it is made of, for the judge.
  private func line(
    _ push: PushMessage, as kind: FCMMessageKind, to handle: String
  ) throws -> String {
    let request = try #require(
      FCMRequest(
        outgoing(push, as: kind, to: handle), to: handle, isCollapsible: true, at: Self.now))
    let sent = try #require(
      try JSONSerialization.jsonObject(with: Data(request.json)) as? [String: Any])
    var said: [String: Any] = [
      "kind": kind.rawValue, "life": 90, "target": [handle.count == 22 ? "fid" : "token": handle],
    ]
    var message = push.message
    // It may have been cut, which is no concern of the schema.
    if message.text.count > 1000 { message.text = try #require(Self.text(sent)) }
    said["message"] = try JSONSerialization.jsonObject(with: Data(JSONCoding.encode(message)))
    said["id"] = push.id.map { String($0) }
    said["collapseID"] = push.collapseID
    said["richType"] = push.richType
    if let media = push.media {
      said["media"] = ["url": media.url, "type": media.type, "size": media.size] as [String: Any]
    }
    return String(
      decoding: try JSONSerialization.data(withJSONObject: ["request": sent, "said": said]),
      as: UTF8.self)
  }

  /// The text of a message as it was sent, without the subtitle before it.
  private static func text(_ request: [String: Any]) -> String? {
    let message = request["message"] as? [String: Any]
    let data = message?["data"] as? [String: String]
    let notification = message?["notification"] as? [String: String]
    return data?["richMessage"] ?? notification?["body"]?.replacing(/^Order 4711\n/, with: "")
  }

  @Test(arguments: FCMMessageKind.allCases)
  func `Google's schema knows every member, and Google's client sends the same`(
    kind: FCMMessageKind
  ) throws {
    try #require(PythonTool.isInstalled, "make tools installs firebase-admin")
    let pushes = WholeMessages.pushes(in: .alert) + [PushMessage(text: "From shop: hi")]
    let lines = try pushes.flatMap { push in
      try Self.handles.map { try line(push, as: kind, to: $0) }
    }
    let verdicts = try PythonTool.run(
      "firebase_judge.py", input: lines.joined(separator: "\n") + "\n")
    #expect(verdicts.count == lines.count)
    for (verdict, line) in zip(verdicts, lines) where verdict != "right" {
      Issue.record("\(verdict)\n\(line)")
    }
  }

  @Test(arguments: FCMMessageKind.allCases)
  func `the stand-in takes what the schema has`(kind: FCMMessageKind) async throws {
    let service = try StandIn("fcm")
    let provider = try FCMProvider(
      credentials: FCMCredentials(json: service.account), endpoint: service.url, kind: kind,
      trustAnchor: service.certificates, now: { Self.now })
    for push in WholeMessages.pushes(in: .hybrid) {
      for handle in Self.handles {
        let outcome = await provider.send(outgoing(push, as: kind, to: handle))
        guard case .delivered = outcome else {
          Issue.record("\(outcome)")
          continue
        }
      }
    }
  }

  @Test(
    arguments: [
      #""data":{"a":1}"#, #""android":{"priority":"URGENT"}"#, #""android":{"ttl":"90"}"#,
      #""android":{"notification":{"visibility":"private"}}"#, #""notification":{"text":"hi"}"#,
      #""android":{"notification":{"notificationCount":"3"}}"#, #""fcmOptions":{"label":"a"}"#,
      #""android":{"collapse":"a"}"#, #""richId":"7""#,
    ])
  func `the judge refuses what Google's API does not have`(member: String) throws {
    try #require(PythonTool.isInstalled, "make tools installs google-api-python-client")
    let request = #"{"request":{"message":{"token":"phone",\#(member)}}}"#
    let verdicts = try PythonTool.run("firebase_judge.py", input: request + "\n")
    #expect(verdicts.count == 1 && verdicts != ["right"], "\(verdicts)")
  }
}
