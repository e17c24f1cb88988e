import Foundation
import RichPushAPI
import StandIns
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct AzureProviderTests {
  private static let keyText = "c2VjcmV0IHRleHQgdGhhdCBsb29rcyBsaWtlIGJhc2U2NA=="

  private func connection(_ hub: StandIn, key: String = keyText) throws -> AzureConnection {
    try AzureConnection(
      connectionString: "Endpoint=sb://localhost:\(hub.port)/;"
        + "SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey=\(key)",
      hub: "phones")
  }

  private func provider(
    _ hub: StandIn, key: String = keyText, timeout: Duration = .seconds(20)
  ) throws -> AzureProvider {
    try AzureProvider(
      connection: connection(hub, key: key), trustAnchor: hub.certificates, timeout: timeout)
  }

  @Test func `signs exactly as Microsoft's libraries do`() throws {
    let connection = try AzureConnection(
      connectionString: "SharedAccessKey=abc+/=;Endpoint=sb://My-NS.servicebus.windows.net/;"
        + "SharedAccessKeyName=Send Only",
      hub: "Hub")
    // Computed with Python's hmac, hashlib and urllib.
    #expect(
      connection.sharedAccessSignature(expiry: Date(timeIntervalSince1970: 1_800_000_000))
        == "SharedAccessSignature "
        + "sr=https%3A%2F%2Fmy-ns.servicebus.windows.net%2Fhub&"
        + "sig=Ut6zyD29yyOjsUMUMeQpwUWtigkUTFgeAdpUKV%2BLqgE%3D&se=1800000000&skn=Send%20Only")
  }

  @Test(arguments: [
    ("", "hub", "Endpoint"),
    ("Endpoint=x;SharedAccessKeyName=a;SharedAccessKey=b", "hub", "Endpoint"),
    ("Endpoint=sb://x/;SharedAccessKey=b", "hub", "SharedAccessKeyName"),
    ("Endpoint=sb://x/;SharedAccessKeyName=a", "hub", "SharedAccessKey="),
    ("Endpoint=sb://x/;SharedAccessKeyName=a;SharedAccessKey=b", "a/b", "a/b"),
    ("nonsense", "hub", "Name=value"),
  ])
  func `says which part of a connection string is wrong`(
    text: String, hub: String, complaint: String
  ) {
    #expect {
      try AzureConnection(connectionString: text, hub: hub)
    } throws: {
      "\($0)".contains(complaint)
    }
  }

  @Test func `sends to a device directly, with Apple's headers`() async throws {
    let hub = try StandIn("hub")
    let push = OutgoingPush.sample(collapseID: "n1", expires: Date(timeIntervalSince1970: 2e9))
    #expect(try await provider(hub).send(push) == .delivered(reference: "m-1"))
    let seen = try #require(try hub.tell(["do": "requests"])["requests"] as? [[String: Any]])
    let headers = try #require(seen.first?["headers"] as? [String: String])
    #expect(headers["ServiceBusNotification-DeviceHandle"] == "AB12")
    #expect(headers["ServiceBusNotification-Apns-Expiry"] == "2033-05-18T03:33:20Z")
    #expect(headers["apns-collapse-id"] == "n1")
    #expect(headers["apns-id"] == push.id)
    #expect(seen.first?["path"] as? String == "/phones/messages/?direct&api-version=2015-04")
    #expect(seen.first?["body"] as? String == push.text.json)
  }

  @Test func `sends to everybody with a tag`() async throws {
    let hub = try StandIn("hub")
    let push = OutgoingPush(
      id: "1", target: .audience(try TagExpression("username:alice||news")),
      text: PayloadTemplate.apple(PushMessage(text: "From bob: hi")).payload())
    #expect(try await provider(hub).send(push) == .delivered(reference: "m-1"))
    let seen = try #require(try hub.tell(["do": "requests"])["requests"] as? [[String: Any]])
    let headers = try #require(seen.first?["headers"] as? [String: String])
    #expect(headers["ServiceBusNotification-Tags"] == "username:alice || news")
    #expect(headers["apns-push-type"] == "alert")
  }

  @Test(arguments: FCMMessageKind.allCases)
  func `sends to Android devices in the format of Firebase, whose target the hub sets`(
    kind: FCMMessageKind
  ) async throws {
    let hub = try StandIn("hub")
    let provider = try AzureFirebaseProvider(
      connection: connection(hub), kind: kind, trustAnchor: hub.certificates)
    let tag = OutgoingPush.Target.audience(try TagExpression("username:alice"))
    for target in [tag, .device(handle: "a:b-C_1", platform: "gcm")] {
      for message in WholeMessages.pushes(in: .alert) + [PushMessage(text: "From bob: hi")] {
        let push = OutgoingPush(
          id: "1", target: target, message: message, text: provider.payload(of: message).payload(),
          collapseID: message.collapseID, expires: Date() + 90)
        #expect(await provider.send(push) == .delivered(reference: "m-1"))
        let seen = try #require(try hub.tell(["do": "requests"])["requests"] as? [[String: Any]])
        let headers = try #require(seen.first?["headers"] as? [String: String])
        #expect(headers["ServiceBusNotification-Format"] == "fcmv1")
        let body = try #require(seen.first?["body"] as? String)
        let sent = try #require(JSONValue(body.utf8)).message
        #expect(sent.data == JSONValue(push.text.json.utf8)?.data)
        #expect((sent.notification == .null) == (kind == .data))
        #expect(sent.android.ttl.text?.hasSuffix("s") == true)
        // What else a device of the hub is to get is not known.
        let key = if case .device = target { message.collapseID } else { nil as String? }
        #expect(sent.android.collapseKey.text == key)
        #expect(sent.token == .null && sent.fid == .null && sent.topic == .null)
      }
    }
  }

  @Test func `sends to the hub's browsers what browsers get`() async throws {
    let hub = try StandIn("hub")
    let provider = try AzureBrowserProvider(
      connection: connection(hub), trustAnchor: hub.certificates)
    for message in WholeMessages.pushes(in: .alert) + [PushMessage(text: "From bob: hi")] {
      let push = OutgoingPush(
        id: "1", target: .audience(try TagExpression("username:alice")), message: message,
        text: provider.payload(of: message).payload(), collapseID: message.collapseID,
        expires: Date() + 90)
      #expect(await provider.send(push) == .delivered(reference: "m-1"))
      let seen = try #require(try hub.tell(["do": "requests"])["requests"] as? [[String: Any]])
      let headers = try #require(seen.first?["headers"] as? [String: String])
      #expect(headers["ServiceBusNotification-Format"] == "browser")
      #expect(seen.first?["body"] as? String == push.text.json)
    }
  }

  @Test(
    arguments: [
      ("azure-fcmv1", "AB12", "apns"), ("azure-fcmv1", "a\r\nX: y", "fcm"),
      ("azure-fcmv1", "", "fcm"), ("azure-browser", "https://push.example/a", "webpush"),
    ])
  func `a format is sent to its own devices only`(
    service: String, handle: String, platform: String
  ) async throws {
    let hub = try StandIn("hub")
    let (connection, anchor) = (try connection(hub), hub.certificates)
    let providers: [any PushProvider] = [
      try AzureFirebaseProvider(connection: connection, trustAnchor: anchor),
      try AzureBrowserProvider(connection: connection, trustAnchor: anchor),
    ]
    let provider = try #require(providers.first { $0.name == service })
    let outcome = await provider.send(
      OutgoingPush(
        id: "1", target: .device(handle: handle, platform: platform),
        text: provider.payload(of: PushMessage(text: "hi")).payload()))
    guard case .rejected(let reason) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(reason.contains("in this format"))
    #expect((try hub.tell(["do": "requests"])["requests"] as? [Any])?.isEmpty == true)
  }

  @Test func `acts on every answer`() async throws {
    let hub = try StandIn("hub")
    let told = "Azure answered "
    let cases: [(step: [String: Any], expected: PushOutcome)] = [
      (["status": 200], .delivered(reference: nil)),
      (["status": 400, "detail": "bad"], .rejected(reason: told + "400: bad")),
      (
        ["status": 400, "detail": "The notification has no target applications."],
        .laneStopped(
          reason: told + "400: The notification has no target applications. "
            + "The hub needs credentials for this format.")
      ),
      (["status": 413, "detail": "big"], .rejected(reason: told + "413: big")),
      (
        ["status": 403, "detail": "slow", "headers": ["Retry-After": "7"]],
        .unavailable(after: .seconds(7), reason: told + "403: slow")
      ),
      (
        ["status": 429, "detail": "slow", "headers": ["Retry-After": "0"]],
        .unavailable(after: .zero, reason: told + "429: slow")
      ),
      (["status": 500, "detail": "oh"], .unavailable(after: nil, reason: told + "500: oh")),
      (["status": 503, "detail": "oh"], .unavailable(after: nil, reason: told + "503: oh")),
      (
        ["status": 403, "detail": "no"],
        .laneStopped(
          reason: told + "403: no The key needs the right to send, or the hub's quota is used up.")
      ),
      (
        ["status": 404, "detail": "no"],
        .laneStopped(reason: told + "404: no Check the namespace and the hub's name.")
      ),
    ]
    let provider = try provider(hub)
    for (step, expected) in cases {
      try hub.tell(["do": "rules", "rules": ["*": [step]]])
      #expect(await provider.send(.sample()) == expected)
    }
  }

  @Test(arguments: [("AB12", "gcm"), ("AB12\r\nX: y", "apns"), ("", "apns")])
  func `delivers nothing but Apple's devices`(handle: String, platform: String) async throws {
    let hub = try StandIn("hub")
    let push = OutgoingPush(
      id: "1", target: .device(handle: handle, platform: platform),
      text: PayloadTemplate.apple(PushMessage(text: "hi")).payload())
    #expect(
      try await provider(hub).send(push)
        == .rejected(reason: "Only pushes to Apple devices are sent through Azure."))
  }

  @Test func `stops the lane when the key is wrong`() async throws {
    let hub = try StandIn("hub")
    let delivery = try await provider(hub, key: "wrong").send(.sample())
    #expect(
      delivery
        == .laneStopped(
          reason: "Azure answered 401: InvalidSignature "
            + "Check the connection string and the machine's clock."))
  }

  @Test(arguments: ["drop", "silence"])
  func `calls a service unavailable that does not answer`(act: String) async throws {
    let hub = try StandIn("hub")
    try hub.tell(["do": "rules", "rules": ["*": [["act": act]]]])
    let delivery = try await provider(hub, timeout: .milliseconds(300)).send(.sample())
    guard case .unavailable(nil, let reason) = delivery else {
      Issue.record("\(delivery)")
      return
    }
    #expect(reason.hasPrefix("Azure can't be reached: "))
  }

  @Test func `refuses a service whose certificate nobody vouches for`() async throws {
    let hub = try StandIn("hub")
    let provider = try AzureProvider(connection: connection(hub))
    guard case .unavailable(_, let reason) = await provider.send(.sample()) else {
      Issue.record("The certificate was accepted.")
      return
    }
    #expect(reason.contains("certificate"))
    let seen = try hub.tell(["do": "requests"])["requests"] as? [Any]
    #expect(seen?.isEmpty == true)
  }
}
