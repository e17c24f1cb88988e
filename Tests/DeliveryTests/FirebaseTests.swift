import Foundation
import Media
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Delivery

/// What is stored for Firebase.
@Suite(.timeLimit(.minutes(1))) struct FirebaseTests {
  @Test func `Firebase's texts have a link to the rendition for Android, and nothing of Apple's`()
    async throws
  {
    let delivery = try await DeliveryFixture(push: "apns,fcm")
    try await delivery.register("AA", of: "alice")
    try await delivery.register("phone", of: "alice", platform: "fcm")
    for form in ["silent", "alert"] {
      try await delivery.publish(delivery.draft(#","form":"\#(form)""#))
      let push = try #require(try await delivery.lease("fcm").last)
      #expect(push.push.target == .device(handle: "phone", platform: "fcm"))
      #expect(!push.push.text.json.contains("aps"))
      #expect(push.push.text.json.contains("/\(Profile.all[1].name)?expires="))
      #expect(push.push.text.json.contains(#""richMessage":"Hi""#))
      let apple = try #require(try await delivery.lease("apns").last)
      #expect(apple.push.text.json.contains("aps"))
    }
    try await delivery.publisher.announcement.announce("From shop: hi", to: "alice")
    let plain = try #require(try await delivery.lease("fcm").last)
    #expect(
      plain.push.text.json
        == #"{"android":{"priority":"HIGH"},"data":{"richMessage":"From shop: hi"}}"#)
  }

  @Test func `two publishers' notifications about the same replace none of each other's`()
    async throws
  {
    let delivery = try await DeliveryFixture(push: "fcm,webpush")
    try await delivery.register("phone", of: "alice", platform: "fcm")
    try await delivery.store.accounts.addUser("kiosk", hash: "", role: .publisher)
    let draft = try delivery.draft(#","replaces":"order""#)
    for sender in ["shop", "kiosk", "shop"] {
      _ = try await delivery.publisher.publish(
        draft, sender: delivery.id(sender), request: Array(sender.utf8), using: .all)
    }
    let lane = PushLane(
      name: "fcm", settings: "", traits: FCMProvider.traits,
      payload: PayloadFormat.firebase(.notification).payload)
    let jobs = try await StoredPushQueue(store: delivery.store, payloads: delivery.payloads)
      .settleAndLease(
        [], lane: lane, limit: 9, now: delivery.clock.date, until: delivery.clock.date + 9
      ).jobs
    let tags = jobs.map { JSONValue($0.push.text.json.utf8)?.android.notification.tag.text }
    #expect(tags == jobs.map(\.push.collapseID) && Set(tags).count == 2)
    // What a browser or an app of its own code gets.
    for format in [PayloadFormat.web, .firebase(.data)] {
      let payload = try #require(
        jobs.first?.push.message.flatMap {
          JSONValue(format.payload(of: $0).payload().json.utf8)
        })
      #expect([payload.tag.text, payload.data.tag.text].contains(tags.first ?? nil))
    }
    let dry = try await delivery.publisher.dryRun(
      draft, sender: delivery.id("shop"), using: .all)
    let browser = try #require(dry.texts.first { $0.platform == "webpush" })
    #expect(browser.payload.tag.text == tags.last ?? nil)
  }

  @Test(arguments: FCMMessageKind.allCases, ["fcm", "azure-fcmv1"])
  func `a dry run shows what Firebase is configured to send`(
    kind: FCMMessageKind, service: String
  ) async throws {
    let delivery = try await DeliveryFixture(push: service, formats: [service: .firebase(kind)])
    try await delivery.register("phone", of: "alice", platform: "fcm")
    let dry = try await delivery.publisher.dryRun(
      try delivery.draft(#","title":"Parcel""#), sender: delivery.id("shop"), using: .all)
    let android = try #require(dry.texts.first { $0.platform == "fcm" })
    #expect(android.body == "Hi")
    #expect((android.payload.notification.title.text == "Parcel") == (kind == .notification))
    #expect(android.shown.contains("title") == (kind == .notification))
    let members = delivery.publisher.announcement.members(
      of: NotificationMessage("Hi"), in: .alert
    ).first { $0.platform == "fcm" }
    #expect(members?.shown.contains("message") == (kind == .notification))
  }

  @Test func `what Azure's hub has gets a push of its own in each format`() async throws {
    let formats = ["azure", "azure-fcmv1", "azure-browser"]
    let delivery = try await DeliveryFixture(push: formats.joined(separator: ","))
    try await delivery.publish(delivery.draft())
    for (lane, member) in zip(formats, ["aps", "android", "richMessage"]) {
      let jobs = try await delivery.lease(lane)
      #expect(jobs.map(\.push.target) == [.audience(try TagExpression("username:alice"))])
      let payload = try #require(jobs.first.flatMap { JSONValue($0.push.text.json.utf8)?.members })
      #expect(payload.keys.contains(member))
    }
  }

  private func settle(_ jobs: [PushJob], _ delivery: DeliveryFixture) async throws {
    let sent = jobs.map {
      Settlement(job: $0.id, outcome: .delivered(as: .background, reference: nil, note: nil))
    }
    _ = try await StoredPushQueue(store: delivery.store, payloads: delivery.payloads)
      .settleAndLease(
        sent, lane: PushLane("fcm"), limit: 0, now: delivery.clock.date,
        until: delivery.clock.date)
  }

  @Test func `a device gets at most four collapse keys until it has fetched`() async throws {
    let delivery = try await DeliveryFixture(push: "fcm")
    let device = try await delivery.register("phone", of: "alice", platform: "fcm")
    try await delivery.register("other", of: "bob", platform: "fcm")
    for _ in 0..<6 { try await delivery.publish(delivery.draft()) }
    try await delivery.publish(delivery.draft(to: #"["username:bob"]"#))
    let jobs = try await delivery.lease("fcm")
    let four = [true, true, true, true, false, false]
    #expect(jobs.map(\.push.isCollapsible) == four + [true])
    try await settle(jobs, delivery)
    try await delivery.publish(delivery.draft())
    let fifth = try await delivery.lease("fcm")
    #expect(fifth.map(\.push.isCollapsible) == [false])
    try await settle(fifth, delivery)
    let alice = try await delivery.id("alice")
    for id in 0..<4 {
      delivery.store.notifications.recordFetched(id, user: alice, device: device)
    }
    try await delivery.publish(delivery.draft())
    let later = try await delivery.lease("fcm")
    #expect(later.map(\.push.isCollapsible) == [true])
    try await settle(later, delivery)
    // What Firebase has given up does not count.
    delivery.clock.advance(by: .seconds(29 * 86_400))
    for _ in 0..<4 { try await delivery.publish(delivery.draft()) }
    #expect(try await delivery.lease("fcm").allSatisfy(\.push.isCollapsible))
  }
}
