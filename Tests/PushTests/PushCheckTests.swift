import Foundation
import StandIns
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct PushCheckTests {
  private func environment(_ apns: StandIn) -> [String: String] {
    [
      "RICHPUSH_APNS_KEY_FILE": apns.folder + "/key.p8", "RICHPUSH_APNS_KEY_ID": "ABC123DEFG",
      "RICHPUSH_APNS_TEAM_ID": "DEF123GHIJ", "RICHPUSH_APNS_TOPIC": "com.example.richpush",
      "RICHPUSH_APNS_ENDPOINT": apns.url + "/", "RICHPUSH_PUSH_CA": apns.certificates,
    ]
  }

  private func environment(hub: StandIn) -> [String: String] {
    [
      "RICHPUSH_AZURE_CONNECTION_STRING": "Endpoint=sb://localhost:\(hub.port)/;"
        + "SharedAccessKeyName=DefaultFullSharedAccessSignature;"
        + "SharedAccessKey=c2VjcmV0IHRleHQgdGhhdCBsb29rcyBsaWtlIGJhc2U2NA==",
      "RICHPUSH_AZURE_HUB": "phones", "RICHPUSH_PUSH_CA": hub.certificates,
      "RICHPUSH_WEBHOOK_URL": hub.url + "/hook",
      "RICHPUSH_WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ]
  }

  @Test func `finds a good key good, without reaching a device`() async throws {
    let apns = try StandIn("apns")
    try apns.answer(["*": [["status": 400, "reason": "BadDeviceToken"]]])
    let findings = await PushCheck.run("apns", environment: environment(apns))
    #expect(findings.map(\.isGood) == [true])
    #expect(findings.first?.sentence == apns.url + ": Apple accepts the key and its team.")
  }

  @Test(arguments: [
    ("RICHPUSH_APNS_KEY_ID", "ZZZ123DEFG", "InvalidProviderToken"),
    ("RICHPUSH_APNS_TOPIC", "com.example.other", "BadTopic"),
    ("RICHPUSH_APNS_ENDPOINT", "https://localhost:1", "can't be reached"),
    ("RICHPUSH_APNS_KEY_FILE", "/nowhere", "RICHPUSH_APNS_KEY_FILE names /nowhere"),
  ])
  func `says what is wrong with Apple's settings`(
    name: String, value: String, complaint: String
  ) async throws {
    let apns = try StandIn("apns")
    let wrong = environment(apns).merging([name: value]) { $1 }
    let findings = await PushCheck.run("apns", environment: wrong)
    #expect(findings.map(\.isGood) == [false])
    #expect(findings.first?.sentence.contains(complaint) == true, "\(findings)")
  }

  @Test func `says whether Firebase accepts the service account`() async throws {
    let fcm = try StandIn("fcm")
    let environment = [
      "RICHPUSH_FCM_CREDENTIALS_FILE": fcm.folder + "/service-account.json",
      "RICHPUSH_FCM_ENDPOINT": fcm.url + "/", "RICHPUSH_PUSH_CA": fcm.certificates,
    ]
    let good = await PushCheck.run("fcm", environment: environment)
    #expect(
      good == [
        PushFinding(
          service: "fcm", isGood: true,
          sentence: "Firebase accepts the service account and its project.")
      ])
    #expect((try fcm.tell(["do": "delivered"])["pushes"] as? [Any])?.isEmpty == true)
    try fcm.answer(["/token": [["status": 400, "raw": "invalid_grant"]]])
    let bad = await PushCheck.run("fcm", environment: environment)
    #expect(bad.map(\.isGood) == [false])
    #expect(bad.first?.sentence.contains("invalid_grant") == true)
  }

  @Test func `checks every service of the list`() async throws {
    let hub = try StandIn("hub")
    let findings = await PushCheck.run(
      "embedded,azure,webhook", environment: environment(hub: hub))
    #expect(findings.map(\.service) == ["embedded", "azure", "webhook"])
    #expect(findings.map(\.isGood) == [true, true, true], "\(findings)")
  }

  @Test func `notices a clock that is wrong`() async throws {
    let hub = try StandIn("hub")
    let findings = await PushCheck.run(
      "azure", environment: environment(hub: hub), now: { Date() - 3600 })
    #expect(findings.map(\.isGood) == [false, false])
    let skew = try #require(findings.last?.sentence)
    #expect(skew.hasPrefix("This machine's clock is 3"))
    #expect(skew.contains("s behind"))
  }
}
