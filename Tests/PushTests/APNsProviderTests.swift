import Foundation
import RichPushAPI
import StandIns
import Testing
import Waiting

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct APNsProviderTests {
  private static func provider(
    _ services: StandIn..., now: @escaping @Sendable () -> Date = { Date() },
    timeout: Duration = .seconds(20),
    keyID: String = "ABC123DEFG"
  ) throws -> APNsProvider {
    let pem = try String(contentsOfFile: services[0].folder + "/key.p8", encoding: .utf8)
    return try APNsProvider(
      key: APNsKey(pem: pem, keyID: keyID, teamID: "DEF123GHIJ"), topic: "com.example.richpush",
      endpoints: services.map(\.url), trustAnchor: services.first?.certificates,
      timeout: timeout, now: now)
  }

  @Test func `sends every header that Apple asks for`() async throws {
    let apns = try StandIn("apns")
    let push = OutgoingPush.sample(7, collapseID: "n7", expires: Date(timeIntervalSince1970: 9e9))
    let delivery = try await Self.provider(apns).send(push)
    #expect(delivery == .delivered(reference: push.id))
    let seen = try #require(try apns.tell(["do": "requests"])["requests"] as? [[String: Any]])
    let headers = try #require(seen.first?["headers"] as? [String: String])
    #expect(headers[":path"] == "/3/device/AB12")
    #expect(headers["apns-id"] == push.id)
    #expect(headers["apns-push-type"] == "background")
    #expect(headers["apns-priority"] == "5")
    #expect(headers["apns-expiration"] == "9000000000")
    #expect(headers["apns-collapse-id"] == "n7")
    #expect(headers["apns-topic"] == "com.example.richpush")
    #expect(seen.first?["body"] as? String == push.text.json)
  }

  @Test(arguments: PushForm.allCases)
  func `Apple documents every field and every key, whatever a message has`(
    form: PushForm
  ) async throws {
    let apns = try StandIn("apns")
    let provider = try Self.provider(apns)
    for (number, message) in WholeMessages.pushes(in: form).enumerated() {
      let push = OutgoingPush.sample(
        number, message: message, text: APNsProvider.payload(of: message).payload(badge: 3),
        collapseID: message.collapseID, expires: Date(timeIntervalSince1970: 9e9))
      #expect(await provider.send(push) == .delivered(reference: push.id), "\(push.text.json)")
    }
  }

  @Test func `sends a thousand pushes over one connection, many at once`() async throws {
    let apns = try StandIn("apns")
    try apns.answer(["*": [["status": 200, "delay": 0.01]]])
    let provider = try Self.provider(apns)
    _ = await provider.send(.sample(0))
    _ = try apns.tell(["do": "requests"])
    let deliveries = await Self.send(1000, by: provider)
    #expect(deliveries == 1000)
    let report = try apns.tell(["do": "requests"])
    #expect(report["opened"] as? Int == 1)
    #expect(try #require(report["mostStreams"] as? Int) > 20)
  }

  @Test func `answers each push of a batch, whatever the others need`() async throws {
    let apns = try StandIn("apns")
    let provider = try Self.provider(apns)
    try apns.answer([
      "AA": [["status": 400, "reason": "BadDeviceToken"]],
      "BB": [["act": "reset"], ["status": 200]], "CC": [["act": "drop"], ["status": 200]],
      "DD": [["status": 429, "reason": "TooManyRequests"]],
      "EE": [["status": 403, "reason": "ExpiredProviderToken"]],
    ])
    var pushes = ["01", "AA", "BB", "CC", "DD", "EE", "02"].enumerated().map { index, handle in
      OutgoingPush.sample(index, to: handle)
    }
    pushes.append(
      OutgoingPush(
        id: "7", target: .device(handle: "AB", platform: "gcm"),
        text: PayloadTemplate.apple(PushMessage(text: "hi")).payload()))
    let (outcomes, told) = AsyncStream.makeStream(of: (Int, String).self)
    await provider.send(pushes) { told.yield(($0, $1.summary)) }
    told.finish()
    let answers = await outcomes.reduce(into: [:]) { $0[$1.0, default: []].append($1.1) }
    let expected = [
      "delivered", "dead", "delivered", "delivered", "retry", "stopped", "delivered", "rejected",
    ]
    #expect(
      answers
        == Dictionary(uniqueKeysWithValues: expected.map { [$0] }.enumerated().map { ($0, $1) }))
  }

  @Test func `acts on every reason of Apple's table`() async throws {
    let apns = try StandIn("apns")
    let provider = try Self.provider(apns)
    for (status, reason, expected) in Self.reasons {
      try apns.answer(["*": [["status": status, "reason": reason]]])
      let delivery = await provider.send(.sample())
      #expect(delivery.summary == expected, "\(status) \(reason): \(delivery)")
    }
  }

  private static let reasons = [
    (400, "BadCollapseId", "rejected"), (400, "BadDeviceToken", "dead"),
    (400, "BadExpirationDate", "rejected"), (400, "BadMessageId", "rejected"),
    (400, "BadPriority", "rejected"), (400, "BadTopic", "stopped"),
    (400, "DeviceTokenNotForTopic", "dead"), (400, "DuplicateHeaders", "rejected"),
    (400, "IdleTimeout", "unavailable"), (400, "InvalidPushType", "rejected"),
    (400, "MissingDeviceToken", "rejected"), (400, "MissingTopic", "stopped"),
    (400, "PayloadEmpty", "rejected"), (400, "TopicDisallowed", "stopped"),
    (403, "BadCertificate", "stopped"), (403, "BadCertificateEnvironment", "stopped"),
    (403, "BadEnvironmentKeyIdInToken", "stopped"), (403, "ExpiredProviderToken", "stopped"),
    (403, "Forbidden", "stopped"), (403, "InvalidProviderToken", "stopped"),
    (403, "MissingProviderToken", "stopped"), (403, "UnrelatedKeyIdInToken", "stopped"),
    (404, "BadPath", "stopped"), (405, "MethodNotAllowed", "stopped"),
    (410, "ExpiredToken", "dead"), (410, "Unregistered", "dead"),
    (413, "PayloadTooLarge", "rejected"), (429, "TooManyProviderTokenUpdates", "unavailable"),
    (429, "TooManyRequests", "retry"), (500, "InternalServerError", "unavailable"),
    (503, "ServiceUnavailable", "unavailable"), (503, "Shutdown", "unavailable"),
    (410, "SomethingNew", "dead"), (429, "SomethingNew", "unavailable"),
    (400, "SomethingNew", "rejected"), (403, "SomethingNew", "stopped"), (400, "", "stopped"),
    (404, "", "stopped"), (410, "", "dead"),
    (302, "SomethingNew", "stopped"), (599, "SomethingNew", "unavailable"),
  ]

  @Test func `tells since when a device is gone, and how long to wait`() async throws {
    let apns = try StandIn("apns")
    let provider = try Self.provider(apns)
    try apns.answer([
      "AA": [["status": 410, "reason": "Unregistered", "timestamp": 1_700_000_000_500]],
      "BB": [["status": 503, "reason": "Shutdown", "headers": ["retry-after": "17"]]],
      "CC": [["status": 429, "reason": "TooManyRequests"]],
      "DD": [["status": 429, "reason": "TooManyRequests", "headers": ["retry-after": "70"]]],
      // A time to come, of a clock that is wrong, must not end what was registered since.
      "EE": [["status": 410, "reason": "Unregistered", "timestamp": 9_999_999_999_000]],
    ])
    #expect(
      await provider.send(.sample(to: "AA"))
        == .deadToken(
          since: Date(timeIntervalSince1970: 1_700_000_000.5),
          reason: "APNs answered 410 Unregistered."))
    #expect(
      await provider.send(.sample(to: "EE"))
        == .deadToken(since: nil, reason: "APNs answered 410 Unregistered."))
    #expect(
      await provider.send(.sample(to: "BB"))
        == .unavailable(after: .seconds(17), reason: "APNs answered 503 Shutdown."))
    for (device, pause) in [("CC", 30), ("DD", 70)] {
      #expect(
        await provider.send(.sample(to: device))
          == .retry(after: .seconds(pause), reason: "APNs answered 429 TooManyRequests."))
    }
  }

  @Test func `finds a device of the other environment`() async throws {
    let production = try StandIn("apns")
    let sandbox = try StandIn("apns")
    try production.answer(["*": [["status": 400, "reason": "BadDeviceToken"]]])
    // One key and one certificate authority for both.
    let pem = try String(contentsOfFile: production.folder + "/key.p8", encoding: .utf8)
    try sandbox.tell(["do": "key", "pem": pem])
    let both = production.folder + "/both.pem"
    let authorities = try [production, sandbox].map {
      try String(contentsOfFile: $0.certificates, encoding: .utf8)
    }
    try authorities.joined().write(toFile: both, atomically: true, encoding: .utf8)
    let provider = try APNsProvider(
      key: APNsKey(pem: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ"),
      topic: "com.example.richpush", endpoints: [production.url, sandbox.url], trustAnchor: both)
    let push = OutgoingPush.sample()
    #expect(await provider.send(push) == .delivered(reference: push.id))
    try sandbox.answer(["*": [["status": 400, "reason": "BadDeviceToken"]]])
    #expect(await provider.send(push).summary == "dead")
  }

  @Test func `renews the provider token once Apple calls it too old`() async throws {
    let apns = try StandIn("apns")
    let clock = ManualClock(at: Date() - 3700)
    let provider = try Self.provider(apns, now: { clock.date })
    // The stand-in's clock says that this token is older than an hour; ours that it is new.
    #expect(await provider.send(.sample()).summary == "stopped")
    clock.advance(by: .seconds(3700))
    #expect(await provider.send(.sample()).summary == "delivered")
  }

  @Test func `names the key's fault when Apple refuses it`() async throws {
    let apns = try StandIn("apns")
    let delivery = try await Self.provider(apns, keyID: "ZZZ999ZZZ9").send(.sample())
    #expect(
      delivery
        == .laneStopped(
          reason: "APNs answered 403 InvalidProviderToken. "
            + "Check key, key id, team id and the machine's clock."))
  }

  @Test func `sends once more at once what a lost stream or connection held`() async throws {
    let apns = try StandIn("apns")
    let provider = try Self.provider(apns)
    _ = await provider.send(.sample(0))
    for fault in ["reset", "goaway", "drop"] {
      try apns.answer(["*": [["act": fault], ["status": 200]]])
      let delivery = await provider.send(.sample(1))
      #expect(delivery == .delivered(reference: OutgoingPush.sample(1).id), "\(fault)")
    }
  }

  @Test func `keeps sending when the service shrinks to one stream`() async throws {
    let apns = try StandIn("apns")
    let provider = try Self.provider(apns)
    _ = await provider.send(.sample(0))
    try apns.tell(["do": "settings", "streams": 1])
    try apns.answer(["*": [["status": 200, "delay": 0.001]]])
    // Often enough for libcurl to leave a response in its buffers.
    for _ in 0..<5 {
      let start = ContinuousClock.now
      #expect(await Self.send(200, by: provider) == 200)
      #expect(.now - start < .seconds(9), "libcurl's connect timeout is ten seconds")
    }
  }

  @Test func `leaves a connection on which the service fell silent`() async throws {
    let apns = try StandIn("apns")
    let provider = try Self.provider(apns, timeout: .milliseconds(2500))
    try apns.answer(["AA": [["act": "silence"]]])
    try await Self.deliver(by: provider)
    let before = try #require(try apns.tell(["do": "requests"])["opened"] as? Int)
    let outcome = await provider.send(.sample(to: "AA"))
    guard case .unavailable(nil, let reason) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(reason.contains("timed out"))
    try await Self.deliver(by: provider)
    #expect(try #require(try apns.tell(["do": "requests"])["opened"] as? Int) > before)
  }

  @Test func `stops at once when its task is cancelled`() async throws {
    let apns = try StandIn("apns")
    let provider = try Self.provider(apns, timeout: .seconds(600))
    try apns.answer(["*": [["act": "silence"]]])
    let task = Task { await provider.send(.sample()) }
    try await eventually("it is asked") {
      try !#require(try apns.tell(["do": "requests"])["requests"] as? [Any]).isEmpty
    }
    task.cancel()
    #expect(try await within { await task.value.summary } == "unavailable")
  }

  @Test func `delivers nothing but Apple's devices`() async throws {
    let apns = try StandIn("apns")
    let provider = try Self.provider(apns)
    for target in [
      OutgoingPush.Target.device(handle: "AB", platform: "gcm"),
      .device(handle: "AB/../../x", platform: "apns"),
      .audience(try TagExpression("a")),
    ] {
      let push = OutgoingPush(
        id: "1", target: target, text: PayloadTemplate.apple(PushMessage(text: "hi")).payload())
      #expect(await provider.send(push).summary == "rejected")
    }
  }

  /// Sends a push until it is delivered, a few times at most: a busy machine may be too slow for the first.
  private static func deliver(by provider: APNsProvider) async throws {
    for _ in 0..<5 where await provider.send(.sample(0)).summary == "delivered" {
      return
    }
    Issue.record("Nothing is delivered.")
  }

  /// Sends so many pushes, at most 80 at once, and counts those that were delivered.
  private static func send(_ count: Int, by provider: APNsProvider) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
      var delivered = 0
      for number in 1...count {
        if number > 80, await group.next() == true { delivered += 1 }
        group.addTask {
          let push = OutgoingPush.sample(number)
          return await provider.send(push) == .delivered(reference: push.id)
        }
      }
      for await isDelivered in group where isDelivered { delivered += 1 }
      return delivered
    }
  }
}

extension PushOutcome {
  /// The case's short name.
  fileprivate var summary: String {
    switch self {
    case .delivered: "delivered"
    case .retry: "retry"
    case .throttled: "throttled"
    case .refused: "refused"
    case .held: "held"
    case .unavailable: "unavailable"
    case .deadToken: "dead"
    case .rejected: "rejected"
    case .laneStopped: "stopped"
    }
  }
}
