import Foundation
import Testing

@testable import Push

@Suite struct APNsProviderTests {
  private static func provider(
    _ services: StandIn..., clock: any PushClock = SystemClock(), patience: Duration = .seconds(20),
    keyID: String = "ABC123DEFG"
  ) throws -> APNsProvider {
    let pem = try String(contentsOfFile: services[0].folder + "/key.p8", encoding: .utf8)
    return try APNsProvider(
      key: APNsKey(pem: pem, keyID: keyID, teamID: "DEF123GHIJ"), topic: "com.example.richpush",
      endpoints: services.map(\.url), trustAnchor: services.first?.certificates,
      patience: patience, clock: clock)
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
