import Foundation
import StandIns
import Testing

@testable import Push

/// Services that answer with what no service should: nothing hangs, grows or is taken for good.
@Suite(.timeLimit(.minutes(2))) struct NonsenseTests {
  private static let page = "<html>\u{1b}[31mBad gateway\r\n\u{0}</html>"

  private static let appleSteps: [(Step, String)] = [
    (["status": 200, "raw": page], "delivered"),
    (["status": 200, "raw": "x", "times": 1_000_000], "delivered"),
    (["status": 200, "act": "endless"], "delivered"),
    (["status": 400, "raw": #"{"reason":"#], "stopped"),
    (["status": 400, "raw": #"{"reason":7}"#], "stopped"),
    (["status": 400, "raw": "[", "times": 1_000_000], "stopped"),
    (["status": 400, "raw": #"{"reason":"\u001b[31m"# + longText + #""}"#], "stopped"),
    (["status": 400, "raw": #"{"reason":"\u001b[31mNew"}"#], "rejected"),
    (["status": 400, "act": "endless"], "stopped"),
    (["status": 410, "raw": #"{"reason":"Unregistered","timestamp":"yesterday"}"#], "dead nil"),
    (["status": 410, "raw": #"{"reason":"Unregistered","timestamp":1e300}"#], "dead nil"),
    (["status": 403, "raw": page], "stopped"), (["status": 429, "raw": page], "unavailable"),
    (["status": 503, "raw": page, "headers": ["retry-after": "soon"]], "unavailable"),
    (["status": 503, "act": "endless"], "unavailable"), (["act": "garbage"], "unavailable"),
  ]

  @Test(arguments: appleSteps)
  func `understands Apple by the status, whatever the body says`(step: Step, expected: String)
    async throws
  {
    let apns = try StandIn("apns")
    try apns.answer(["*": [step.members]])
    let pem = try String(contentsOfFile: apns.folder + "/key.p8", encoding: .utf8)
    let provider = try APNsProvider(
      key: APNsKey(pem: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ"),
      topic: "com.example.richpush", endpoints: [apns.url], trustAnchor: apns.certificates)
    Self.expect(expected, await provider.send(.sample()))
  }

  private static let firebaseSteps: [(Step, String)] = [
    (["status": 200, "raw": page], "delivered"), (["status": 200, "act": "endless"], "delivered"),
    (["status": 400, "raw": #"{"error":"#], "rejected"),
    (["status": 400, "raw": #"{"error":{"details":7}}"#], "rejected"),
    (["status": 400, "raw": "[", "times": 1_000_000], "rejected"),
    (["status": 400, "raw": #"{"error":{"status":"\u001b[31m"# + longText + #""}}"#], "rejected"),
    (["status": 404, "raw": page], "stopped"), (["status": 410, "raw": page], "rejected"),
    (["status": 403, "act": "endless"], "stopped"), (["status": 429, "raw": page], "unavailable"),
    (["status": 503, "raw": page, "headers": ["retry-after": "soon"]], "unavailable"),
    (["act": "garbage"], "unavailable"), (["status": 200, "act": "heads"], "unavailable"),
  ]

  @Test(arguments: firebaseSteps)
  func `understands Firebase by the status, whatever the body says`(step: Step, expected: String)
    async throws
  {
    let fcm = try StandIn("fcm")
    try fcm.answer(["*": [step.members]])
    let provider = try FCMProvider(
      credentials: FCMCredentials(json: fcm.account), endpoint: fcm.url,
      trustAnchor: fcm.certificates)
    Self.expect(expected, await provider.send(.android()))
  }

  private static let hubSteps: [(Step, String)] = [
    (["status": 200, "raw": page], "delivered"),
    (["status": 201, "headers": ["Location": "nowhere"]], "delivered"),
    (["status": 200, "raw": "x", "times": 5_000_000], "delivered"),
    (["status": 200, "act": "endless"], "delivered"),
    (["status": 400, "raw": page], "rejected"), (["status": 400, "act": "endless"], "rejected"),
    (["status": 418, "raw": "</Detail><Detail>"], "rejected"),
    (["status": 403, "raw": page], "stopped"),
    (
      ["status": 500, "raw": page, "headers": ["Retry-After": "99999999999999999999"]],
      "unavailable"
    ),
    (["status": 503, "act": "endless"], "unavailable"), (["act": "garbage"], "unavailable"),
    (["status": 200, "act": "heads"], "unavailable"),
  ]

  @Test(arguments: hubSteps)
  func `understands Azure by the status, whatever else it says`(step: Step, expected: String)
    async throws
  {
    let hub = try StandIn("hub")
    try hub.answer(["*": [step.members]])
    let connection = try AzureConnection(
      connectionString: "Endpoint=sb://localhost:\(hub.port)/;"
        + "SharedAccessKeyName=DefaultFullSharedAccessSignature;"
        + "SharedAccessKey=c2VjcmV0IHRleHQgdGhhdCBsb29rcyBsaWtlIGJhc2U2NA==",
      hub: "phones")
    let provider = try AzureProvider(connection: connection, trustAnchor: hub.certificates)
    Self.expect(expected, await provider.send(.sample()))
  }

  @Test(arguments: hubSteps)
  func `understands a webhook by the status, whatever else it says`(step: Step, expected: String)
    async throws
  {
    let hub = try StandIn("hub")
    try hub.answer(["*": [step.members]])
    let webhook = try Webhook(
      url: hub.url + "/hook", secret: WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
      trustAnchor: hub.certificates)
    Self.expect(expected, await WebhookProvider(webhook).send(.sample()))
  }

  private static let longText = String(repeating: "long ", count: 10_000)

  /// The outcome, with words that fit a line of a receipt.
  private static func expect(_ expected: String, _ outcome: PushOutcome) {
    let (summary, words) =
      switch outcome {
      case .delivered(let reference): ("delivered", reference ?? "")
      case .retry(_, let reason): ("retry", reason)
      case .throttled(_, let reason): ("throttled", reason)
      case .refused(let reason): ("refused", reason)
      case .held(_, let reason): ("held", reason)
      case .unavailable(_, let reason): ("unavailable", reason)
      case .deadToken(let since, let reason): ("dead " + (since.map { "\($0)" } ?? "nil"), reason)
      case .rejected(let reason): ("rejected", reason)
      case .laneStopped(let reason): ("stopped", reason)
      }
    #expect(summary == expected, "\(outcome)")
    #expect(words.utf8.count < 700 && words.unicodeScalars.allSatisfy { $0.value >= 0x20 })
  }

  /// What a stand-in is told to do.
  struct Step: Sendable, ExpressibleByDictionaryLiteral, CustomTestStringConvertible {
    nonisolated(unsafe) let members: [String: Any]

    init(dictionaryLiteral members: (String, Any)...) {
      self.members = Dictionary(uniqueKeysWithValues: members)
    }

    var testDescription: String { String("\(members)".prefix(100)) }
  }
}
