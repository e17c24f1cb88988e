import Testing

@testable import Push

/// Which of several push services sends to a device.
@Suite(.timeLimit(.minutes(1))) struct PlatformLanesTests {
  @Test(
    arguments: [
      ("embedded", "apns", nil, "embedded"), ("embedded", "gcm", nil, nil),
      ("embedded,apns,azure", "apns", "apns", "apns"),
      ("embedded,azure,apns", "apns", "azure", "azure"), ("azure,apns", "wns", nil, nil),
      ("apns,webhook", "apns", "apns", "apns"), ("apns,webhook", "mpns", "webhook", "webhook"),
      ("webhook,apns", "apns", "webhook", "webhook"),
      ("embedded,webhook", "webpush", nil, nil), ("apns,webpush", "webpush", "webpush", "webpush"),
      ("webpush", "gcm", nil, nil), ("apns,azure", "fcm", nil, nil), ("fcm", "apns", nil, nil),
      ("embedded,fcm", "gcm", "fcm", "fcm"), ("webhook,fcm", "fcm", "webhook", "webhook"),
      ("fcm,webhook", "fcm", "fcm", "fcm"),
      ("azure, apns,azure", "apns", "azure", "azure"),
      ("azure,azure-fcmv1", "gcm", "azure-fcmv1", "azure-fcmv1"),
      ("fcm,azure-fcmv1", "fcm", "fcm", "fcm"), ("azure,azure-browser", "webpush", nil, nil),
    ] as [(String, String, String?, String?)])
  func `takes the first in the list that can, and the gateway where there is none`(
    list: String, platform: String, lane: String?, service: String?
  ) throws {
    let lanes = try PlatformLanes(list)
    #expect(lanes.lane(of: platform) == lane)
    #expect(lanes.service(of: platform) == service)
    #expect(lanes.unreached.contains(platform) == (service == nil))
  }

  @Test func `says why nothing comes, and how it may come all the same`() throws {
    let gap = "This server's push services (apns) do not send to gcm."
    #expect(try PlatformLanes("apns").gap(of: "gcm") == gap)
    let both = try PlatformLanes("embedded,apns").gap(of: "gcm")
    #expect(both.contains("(embedded, apns)") && both.contains("/api/push/stream"))
  }

  @Test(arguments: ["", ",", " , ", "apns,firebase"])
  func `refuses a list that names no service, or what is none`(list: String) {
    let error = #expect(throws: PushError.self) { try PlatformLanes(list) }
    #expect(error?.reason.contains("choose from embedded, azure, apns, webhook") == true)
  }
}
