import Foundation
import RichPushAPI
import StandIns
import Testing
import Waiting

@testable import Push

/// Firebase, with a stand-in that verifies signatures and checks each field against the published schema.
@Suite(.timeLimit(.minutes(1))) struct FCMProviderTests {
  private func provider(
    _ service: StandIn, kind: FCMMessageKind = .data, timeout: Duration = .seconds(20),
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws -> FCMProvider {
    try FCMProvider(
      credentials: FCMCredentials(json: service.account), endpoint: service.url, kind: kind,
      trustAnchor: service.certificates, timeout: timeout, now: now)
  }

  private static let message = message(size: 900_000)

  private static func message(type: String = "image/jpeg", size: Int) -> PushMessage {
    var message = PushMessage(7, "Schön 🦊", richType: "img", form: .alert)
    message.media = MediaLink(url: "https://a.example/m", type: type, size: size)
    return message
  }

  private func requests(_ service: StandIn) throws -> (messages: [[String: Any]], exchanges: Int) {
    let seen = try service.tell(["do": "requests"])
    let requests = try #require(seen["requests"] as? [[String: Any]])
    return (
      try requests.map { try #require($0["message"] as? [String: Any]) },
      try #require(seen["exchanges"] as? Int)
    )
  }

  @Test func `an app with code gets texts, at once`() async throws {
    let service = try StandIn("fcm")
    let now = Date.thisSecond
    let push = OutgoingPush.android(Self.message, collapseID: "rich-7", expires: now + 90)
    let outcome = try await provider(service, now: { now }).send(push)
    guard case .delivered(let reference) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(reference?.hasPrefix("projects/richpush-test/messages/") == true)
    let message = try #require(try requests(service).messages.first)
    #expect(
      message["data"] as? [String: String] == [
        "richId": "7", "richMessage": "Schön 🦊", "richType": "img",
        "attUrl": "https://a.example/m", "attType": "image/jpeg", "attSize": "900000",
      ])
    #expect(message["notification"] == nil && message["token"] as? String == "phone")
    let android = try #require(message["android"] as? [String: Any])
    #expect(android["priority"] as? String == "HIGH")
    #expect(android["collapseKey"] as? String == "rich-7" && android["notification"] == nil)
    #expect(android["ttl"] as? String == "90s")
  }

  @Test func `for an app without code, Android shows message and picture`() async throws {
    let service = try StandIn("fcm")
    let provider = try provider(service, kind: .notification)
    _ = await provider.send(.android(Self.message, as: .notification, collapseID: "rich-7"))
    let large = Self.message(size: 1_000_001)
    let sound = Self.message(type: "audio/mpeg", size: 900_000)
    for message in [large, sound] {
      _ = await provider.send(.android(message, as: .notification))
    }
    let messages = try requests(service).messages
    try #require(messages.count == 3)
    #expect(
      messages[0]["notification"] as? [String: String] == [
        "body": "Schön 🦊", "image": "https://a.example/m",
      ])
    #expect(messages[0]["data"] as? [String: String] == ["richId": "7", "richType": "img"])
    let android = try #require(messages[0]["android"] as? [String: Any])
    #expect(android["notification"] as? [String: String] == ["tag": "rich-7"])
    #expect(android["ttl"] as? String == "2419200s")
    for message in messages[1...] {
      #expect(message["notification"] as? [String: String] == ["body": "Schön 🦊"])
    }
  }

  @Test func `a collapse ID beyond those that Firebase takes is no key`() async throws {
    let service = try StandIn("fcm")
    let push = OutgoingPush(
      id: "1", target: .device(handle: "phone", platform: "fcm"),
      text: PayloadTemplate.firebase(Self.message, as: .data).payload(), collapseID: "rich-7",
      isCollapsible: false)
    _ = try await provider(service).send(push)
    let android = try #require(try requests(service).messages.first?["android"] as? [String: Any])
    #expect(android["collapseKey"] == nil)
  }

  @Test func `acts on every answer`() async throws {
    let service = try StandIn("fcm")
    let html = "<!DOCTYPE html><title>Error 502 (Server Error)!!1</title>"
    let device = ["violations": [["subject": "device:phone", "description": "Device rate"]]]
    let cases: [(step: [String: Any], check: (PushOutcome) -> Bool)] = [
      ([:], { if case .delivered(.some) = $0 { true } else { false } }),
      (
        ["status": 200, "raw": "no JSON"],
        { $0 == .delivered(reference: nil) }
      ),
      (
        ["error": "UNREGISTERED"],
        { if case .deadToken(nil, let why) = $0 { why.contains("UNREGISTERED") } else { false } }
      ),
      (["error": "INVALID_ARGUMENT"], { if case .rejected = $0 { true } else { false } }),
      (
        ["error": "SENDER_ID_MISMATCH"],
        { if case .refused(let why) = $0 { why.contains("another Firebase") } else { false } }
      ),
      (
        ["error": "QUOTA_EXCEEDED"],
        { if case .unavailable(.seconds(60), _) = $0 { true } else { false } }
      ),
      (
        ["error": "QUOTA_EXCEEDED", "headers": ["Retry-After": "90"]],
        { if case .unavailable(.seconds(90), _) = $0 { true } else { false } }
      ),
      (
        ["error": "QUOTA_EXCEEDED", "details": [device]],
        { if case .retry(.seconds(60), _) = $0 { true } else { false } }
      ),
      (["error": "INTERNAL"], { if case .unavailable(nil, _) = $0 { true } else { false } }),
      (
        ["error": "UNSPECIFIED_ERROR"],
        { if case .unavailable(nil, _) = $0 { true } else { false } }
      ),
      (
        ["error": "UNAVAILABLE", "headers": ["Retry-After": "7"]],
        { if case .unavailable(.seconds(7), _) = $0 { true } else { false } }
      ),
      (
        ["error": "THIRD_PARTY_AUTH_ERROR"],
        { if case .retry(.seconds(300), _) = $0 { true } else { false } }
      ),
      (
        ["status": 502, "raw": html],
        { $0 == .unavailable(after: nil, reason: "Firebase answered 502.") }
      ),
      (["status": 404, "raw": html], { if case .laneStopped = $0 { true } else { false } }),
      (["status": 403, "raw": html], { if case .laneStopped = $0 { true } else { false } }),
      (["status": 302], { if case .laneStopped = $0 { true } else { false } }),
      (["status": 418, "raw": "{}"], { if case .rejected = $0 { true } else { false } }),
      (["act": "drop"], { if case .unavailable(nil, _) = $0 { true } else { false } }),
      (["act": "garbage"], { if case .unavailable(nil, _) = $0 { true } else { false } }),
    ]
    let provider = try provider(service)
    for (step, check) in cases {
      try service.answer(["*": [step]])
      let outcome = await provider.send(.android())
      #expect(check(outcome), "\(step): \(outcome)")
    }
  }

  @Test func `a token that Firebase finds invalid is dead, but another bad field is not`()
    async throws
  {
    let service = try StandIn("fcm")
    let provider = try provider(service)
    let invalid = await provider.send(.android(to: "no token"))
    guard case .deadToken = invalid else {
      Issue.record("\(invalid)")
      return
    }
    let apple = OutgoingPush(
      id: "1", target: .device(handle: "phone", platform: "fcm"),
      text: PushPayload(.alert, json: #"{"aps":{}}"#))
    let foreign = await provider.send(apple)
    guard case .rejected = foreign else {
      Issue.record("\(foreign)")
      return
    }
  }

  /// A body of Firebase's with an error for one token.
  private func refusal(
    _ message: String, status: String = "INVALID_ARGUMENT", fields: [String]? = nil
  ) throws -> [String: Any] {
    var details: [[String: Any]] = [
      ["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": status]
    ]
    if let fields { details.append(["fieldViolations": fields.map { ["field": $0] }]) }
    let error: [String: Any] = [
      "code": 400, "message": message, "status": status, "details": details,
    ]
    let body = try JSONSerialization.data(withJSONObject: ["error": error])
    return ["status": 400, "raw": String(decoding: body, as: UTF8.self)]
  }

  @Test func `a short 400 that blames the token ends the registration; others keep it`()
    async throws
  {
    let service = try StandIn("fcm")
    let provider = try provider(service)
    let token = "The registration token is not a valid FCM registration token"
    let cases = [
      (try refusal(token), true), (try refusal(token + "."), true),
      (try refusal("Invalid registration token"), true),
      (try refusal("The registration token is invalid."), true),
      (try refusal(token, fields: ["message.token"]), true),
      (try refusal(token, fields: ["message.data[0].value"]), false),
      (try refusal(token, status: "FAILED_PRECONDITION"), false),
      (try refusal("Request contains an invalid argument."), false),
      (try refusal(#"Invalid JSON payload received. Unknown name "\#(token)""#), false),
      (try refusal("Message is too big: the registration token is not valid"), false),
      (try refusal("Android message is too big"), false),
      (try refusal("Requested entity was not found."), false),
      (try refusal("SenderId mismatch"), false), (try refusal(""), false),
    ]
    for (step, isDead) in cases {
      try service.answer(["*": [step]])
      let outcome = await provider.send(.android())
      switch outcome {
      case .deadToken: #expect(isDead, "\(step)")
      case .rejected: #expect(!isDead, "\(step)")
      default: Issue.record("\(step): \(outcome)")
      }
    }
  }

  @Test func `a revoked access token is replaced once, then the lane stops`() async throws {
    let service = try StandIn("fcm")
    let provider = try provider(service)
    guard case .delivered = await provider.send(.android()) else {
      Issue.record("not delivered")
      return
    }
    try service.tell(["do": "revoke"])
    let outcomes = await provider.outcomes(of: 50)
    #expect(outcomes.allSatisfy { if case .delivered = $0 { true } else { false } })
    #expect(try requests(service).exchanges == 2)
    try service.answer(["*": [["status": 401, "raw": "{}"]]])
    guard case .laneStopped(let reason) = await provider.send(.android()) else {
      Issue.record("not stopped")
      return
    }
    #expect(reason.contains("service account"))
    #expect(try requests(service).messages.count == 2)
  }

  @Test func `however many wait, there is one exchange, and it is renewed early`() async throws {
    let service = try StandIn("fcm")
    let clock = ManualClock(at: Date())
    let provider = try provider(service, now: { clock.date })
    #expect(await provider.outcomes(of: 200).count == 200)
    async let first = provider.send(.android())
    async let second = provider.send(.android())
    _ = await (first, second)
    #expect(try requests(service).exchanges == 1)
    try service.answer(["/token": [["status": 503]]])
    clock.advance(by: .seconds(2800))
    guard case .delivered = await provider.send(.android()) else {
      Issue.record("not delivered")
      return
    }
    #expect(try requests(service).exchanges == 0)
    clock.advance(by: .seconds(100))
    // The renewal fails, and the old token is still good.
    guard case .delivered = await provider.send(.android()) else {
      Issue.record("not delivered")
      return
    }
    clock.advance(by: .seconds(1100))
    let outcome = await provider.send(.android())
    guard case .unavailable(_, let reason) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(reason == "Google's token service answered 503.")
  }

  @Test func `an account that Google refuses stops the lane`() async throws {
    let service = try StandIn("fcm")
    try service.answer(["/token": [["status": 400, "raw": #"{"error":"invalid_grant"}"#]]])
    guard case .laneStopped(let reason) = try await provider(service).send(.android()) else {
      Issue.record("not stopped")
      return
    }
    #expect(reason.contains("invalid_grant"))
  }

  @Test func `a clock that is wrong is named`() async throws {
    let service = try StandIn("fcm")
    let provider = try provider(service, now: { Date() - 7200 })
    guard case .laneStopped(let reason) = await provider.send(.android()) else {
      Issue.record("not stopped")
      return
    }
    #expect(reason.contains("the machine's clock"))
  }

  @Test func `a token service that does not answer well is tried again`() async throws {
    let service = try StandIn("fcm")
    let provider = try provider(service, timeout: .milliseconds(200))
    let steps: [[String: Any]] = [
      ["act": "silence"], ["act": "garbage"], ["status": 200, "raw": "{}"],
    ]
    for step in steps {
      try service.answer(["/token": [step]])
      let outcome = await provider.send(.android())
      guard case .unavailable = outcome else {
        Issue.record("\(outcome)")
        continue
      }
    }
  }

  @Test func `a cancelled push ends at once, also while it waits for a token`() async throws {
    let service = try StandIn("fcm")
    try service.answer(["/token": [["act": "silence"]]])
    let provider = try provider(service, timeout: .seconds(600))
    let task = Task { await provider.send(.android()) }
    try await eventually("a token is asked for") { try requests(service).exchanges == 1 }
    task.cancel()
    let outcome = try await within { await task.value }
    guard case .unavailable = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }

  @Test func `sends to devices only`() async throws {
    let service = try StandIn("fcm")
    let push = OutgoingPush(
      id: "1", target: .audience(try TagExpression(anyOf: [Tag("news")])),
      text: PushPayload(.alert, json: "{}"))
    guard case .rejected = try await provider(service).send(push) else {
      Issue.record("not rejected")
      return
    }
  }

  @Test func `refuses credentials that can't sign, and says why`() throws {
    let service = try StandIn("fcm")
    let good = try #require(
      try JSONSerialization.jsonObject(with: Data(service.account.utf8)) as? [String: Any])
    let curve = try String(contentsOfFile: StandIn("apns").folder + "/key.p8", encoding: .utf8)
    for (name, value, complaint) in [
      ("type", "authorized_user", "service_account"), ("project_id", "a/b", "project_id"),
      ("token_uri", "http://a.example/", "token_uri"), ("private_key", "no key", "cannot sign"),
      ("private_key", curve, "not an RSA key"), ("client_email", nil, "client_email"),
    ] {
      var bad = good
      bad[name] = value
      let json = String(
        decoding: try JSONSerialization.data(withJSONObject: bad), as: UTF8.self)
      #expect { try FCMCredentials(json: json) } throws: { "\($0)".contains(complaint) }
    }
    #expect(throws: PushError.self) { try FCMCredentials(json: "[]") }
  }
}

extension StandIn {
  /// The text of Firebase's service account.
  var account: String {
    get throws { try String(contentsOfFile: folder + "/service-account.json", encoding: .utf8) }
  }
}

extension OutgoingPush {
  static func android(
    _ message: PushMessage = PushMessage(7, "Look", richType: "img", form: .alert),
    as kind: FCMMessageKind = .data, to handle: String = "phone", collapseID: String? = nil,
    expires: Date? = nil
  ) -> OutgoingPush {
    var message = message
    message.collapseID = collapseID
    return OutgoingPush(
      id: "1", target: .device(handle: handle, platform: "fcm"), message: message,
      text: PayloadTemplate.firebase(message, as: kind).payload(), collapseID: collapseID,
      expires: expires)
  }
}

extension FCMProvider {
  /// The outcomes of so many pushes that are sent together.
  fileprivate func outcomes(of count: Int) async -> [PushOutcome] {
    let (outcomes, continuation) = AsyncStream.makeStream(of: PushOutcome.self)
    await send((0..<count).map { .android(to: "phone\($0)") }) { continuation.yield($1) }
    continuation.finish()
    return await outcomes.reduce(into: []) { $0.append($1) }
  }
}
