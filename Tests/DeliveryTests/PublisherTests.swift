import Foundation
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Delivery

@Suite(.timeLimit(.minutes(1))) struct PublisherTests {
  @Test func `stores a notification with its recipients, its event and a push for each device`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    let device = try await delivery.register("AA", of: "alice")
    try await delivery.register("BB", of: "bob")
    let published = try await delivery.publish(delivery.draft())
    #expect(published.isNew && published.notification.to == ["username:alice"])
    #expect(try await published.notification.sender == delivery.id("shop"))
    #expect(published.reach.users == 1)
    #expect(try await delivery.store.notifications.receipts(of: 0).map(\.user) == ["alice"])
    #expect(try await delivery.pushEvents(for: "alice").count == 1)
    #expect(try await delivery.pushEvents(for: "bob").isEmpty)
    let jobs = try await delivery.store.outbox.deliveries(of: 0)
    #expect(jobs.map(\.registration) == [device] && jobs.map(\.lane) == ["apns"])
  }

  @Test func `every rendition is made before the push`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.publish(delivery.draft())
    #expect(delivery.counts[.made] == 1 + Profile.all.count)
    let plugin = try #require(delivery.host.plugin("note"))
    let notification = try #require(try await delivery.store.notifications.notification(0))
    for profile in Profile.all {
      let request = RenditionRequest(
        source: RenditionSource(notification, in: delivery.store),
        options: RenditionOptions(profile), plugin: plugin)
      #expect(delivery.renderer.stored(request) != nil, "\(profile.name)")
    }
  }

  @Test func `a rejected profile does not prevent sending, a failing plugin does`()
    async throws
  {
    let delivery = try await DeliveryFixture(
      script: """
        case $RICH_PAYLOAD-$RICH_PROFILE in
          crash-web) exit 3 ;;
          *-watch) printf 'Status: 422\\nContent-Type: text/plain\\n\\nIt is too wide.' ;;
          *) printf 'Content-Type: text/plain\\n\\nok' ;;
        esac
        """)
    #expect(try await delivery.publish(delivery.draft()).isNew)
    var crash = try delivery.draft()
    crash.payload = "crash"
    #expect(try await delivery.refusal(crash).code == .pluginFailed)
    #expect(try await delivery.store.notifications.notification(1) == nil)
    #expect(try await delivery.pushEvents(for: "alice").count == 1)
  }

  @Test func `a notification whose original is rejected is not created`() async throws {
    let delivery = try await DeliveryFixture()
    var bad = try delivery.draft()
    bad.payload = "bad"
    let error = try await delivery.refusal(bad)
    #expect(error.code == .rejected && error.reason == "It is bad.")
    #expect(try await delivery.store.notifications.notification(0) == nil)
  }

  @Test func `what is rendered for each user is not rendered before the push`() async throws {
    let delivery = try await DeliveryFixture(manifest: #"{"perUser":true}"#)
    try await delivery.publish(delivery.draft(#","form":"alert""#))
    #expect(delivery.counts[.made] == 0)
    #expect(try await delivery.pushEvents(for: "alice").first?.contains("att") == false)
  }

  @Test
  func `without recipients nothing is created, and unknown names among known ones are reported`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    let error = try await delivery.refusal(delivery.draft(to: #"["username:carol"]"#))
    #expect(error.code == .noRecipients && error.reason == "There is no user “carol”.")
    #expect(error.faults.map(\.member) == ["to"])
    #expect(try await delivery.refusal(delivery.draft(to: #""vip""#)).code == .noRecipients)
    let to = #"["username:alice","username:carol","username:zoë"]"#
    let published = try await delivery.publish(delivery.draft(to: to))
    #expect(published.reach.unknown == ["carol", "zoë"])
  }

  @Test func `a tag finds the devices that have it, an expression excludes some`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice", tags: ["news"])
    try await delivery.register("BB", of: "bob", tags: ["news", "muted"])
    try await delivery.register("CC", of: "bob", platform: "gcm", tags: ["news"])
    let published = try await delivery.publish(delivery.draft(to: #""news && !muted""#))
    #expect(published.reach.devices == 2)
    #expect(published.reach.devicesWithoutLane == 1, "nobody sends to gcm")
    #expect(try await delivery.store.outbox.deliveries(of: 0).map(\.user) == ["alice"])
    #expect(try await delivery.store.notifications.receipts(of: 0).map(\.user) == ["alice", "bob"])
  }

  @Test func `a device that has not named its platform yet is not reached`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    _ = try await delivery.store.accounts.registration(
      forHandle: "BB", user: delivery.id("alice"))
    let reach = try await delivery.publish(delivery.draft(to: #""!vip""#)).reach
    #expect(reach.devices == 2 && reach.devicesWithoutLane == 1)
  }

  @Test func `the name of a removed user's successor is not the recipient`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.publish(delivery.draft())
    _ = try await delivery.store.accounts.removeUser("alice")
    try await delivery.store.accounts.addUser("alice", hash: "", role: .device)
    let isRecorded = try await delivery.store.notifications.isFetchRecorded(
      0, user: delivery.id("alice"), device: nil)
    #expect(isRecorded == nil)
  }

  @Test func `a repeated key returns the first notification, another request is a conflict`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    let draft = try delivery.draft(#","idempotencyKey":"k""#)
    #expect(try await delivery.publish(draft, request: "a").isNew)
    let again = try await delivery.publish(draft, request: "a")
    #expect(!again.isNew && again.notification.id == 0)
    let error = await #expect(throws: StoreError.self) {
      try await delivery.publish(draft, request: "b")
    }
    #expect(error?.code == .conflict)
    #expect(try await delivery.pushEvents(for: "alice").count == 1)
  }

  @Test func `an asset is pinned as it is now`() async throws {
    let delivery = try await DeliveryFixture()
    try delivery.scratch.write("\0one", to: "assets/file/a.bin")
    var draft = try delivery.draft()
    (draft.richType, draft.payload) = ("file", "a.bin")
    try await delivery.publish(draft)
    try delivery.scratch.write("\0another", to: "assets/file/a.bin")
    let pinned = try await delivery.store.notifications.notification(0)?.blob
    #expect(pinned?.digest == Digest(of: "\0one") && pinned?.size == 4)
  }

  @Test func `a payload that names no asset is refused, with the one that is spelled alike`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    try delivery.scratch.write("\0one", to: "assets/file/Logo.bin")
    var draft = try delivery.draft()
    (draft.richType, draft.payload) = ("file", "Logo.bin")
    try await delivery.publish(draft)
    draft.payload = "logo.bin"
    let error = try await delivery.refusal(draft)
    #expect(
      error.code == .rejected
        && error.reason.hasSuffix(
          "; there is “Logo.bin”, which differs only in upper and lower case.")
    )
    draft.payload = "../logo.bin"
    #expect(try await delivery.refusal(draft).reason.contains("names no asset"))
    try delivery.scratch.write("", to: "assets/file/empty.bin")
    draft.payload = "empty.bin"
    #expect(try await delivery.refusal(draft).code == .assetNotReady)
    draft.richType = "img"
    #expect(try await delivery.refusal(draft).code == .unknownRichType)
  }

  @Test func `a refused asset is not sent, even if there is content`() async throws {
    let delivery = try await DeliveryFixture()
    try delivery.scratch.write("\0one", to: "assets/file/a.bin")
    var draft = try delivery.draft()
    (draft.richType, draft.payload) = ("file", "a.bin")
    let name = try #require(AssetName("a.bin"))
    var asset = try await delivery.assets.examine("file", name).asset
    (asset.state, asset.reason) = (.refused, "It is bad.")
    let error = try await delivery.refusal(draft, asset: asset)
    #expect(error.code == .assetNotReady && error.reason.hasSuffix("It is bad."))
  }

  // MARK: - Changes

  @Test func `a change reaches the same recipients, and replaces what was not sent`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice", tags: ["news"])
    let first = try await delivery.publish(delivery.draft(to: #""news""#)).notification
    try await delivery.register("BB", of: "bob", tags: ["news"])
    let body = Array(#"{"message":"Changed"}"#.utf8)
    let draft = try Draft(first, changedBy: body, allowing: [], now: delivery.clock.date)
    let changed = try await delivery.publisher.amend(first, as: draft, using: .all)
    #expect(changed.message == "Changed" && changed.id == first.id)
    let jobs = try await delivery.store.outbox.deliveries(of: 0)
    #expect(jobs.map(\.user) == ["alice", "alice"] && jobs.map(\.state) == [.cancelled, .queued])
    #expect(try await delivery.pushEvents(for: "bob").isEmpty)
  }

  @Test func `what a device has fetched cannot be changed`() async throws {
    let delivery = try await DeliveryFixture()
    let first = try await delivery.publish(delivery.draft()).notification
    delivery.store.notifications.recordFetched(
      0, user: try await delivery.id("alice"), device: nil)
    try await eventually("it is recorded") {
      try await delivery.store.notifications.receipts(of: 0).first?.fetched != nil
    }
    let body = Array(#"{"message":"Changed"}"#.utf8)
    let draft = try Draft(first, changedBy: body, allowing: [], now: delivery.clock.date)
    let error = await #expect(throws: ServiceError.self) {
      _ = try await delivery.publisher.amend(first, as: draft, using: .all)
    }
    #expect(error?.code == .alreadyFetched)
  }

  @Test func `what another has taken the place of cannot be changed`() async throws {
    let delivery = try await DeliveryFixture()
    var draft = try delivery.draft()
    draft.message.replaces = "parcel"
    let first = try await delivery.publish(draft).notification
    _ = try await delivery.publish(draft)
    let body = Array(#"{"message":"Changed"}"#.utf8)
    let change = try Draft(first, changedBy: body, allowing: [], now: delivery.clock.date)
    let error = await #expect(throws: ServiceError.self) {
      _ = try await delivery.publisher.amend(first, as: change, using: .all)
    }
    #expect(error?.code == .conflict && error?.reason.contains("Notification 1 has") == true)
  }

  @Test func `a changed message keeps the file that was pinned`() async throws {
    let delivery = try await DeliveryFixture()
    try delivery.scratch.write("\0one", to: "assets/file/a.bin")
    var draft = try delivery.draft()
    (draft.richType, draft.payload) = ("file", "a.bin")
    let first = try await delivery.publish(draft).notification
    try delivery.scratch.write("\0another", to: "assets/file/a.bin")
    draft.message = "Changed"
    let changed = try await delivery.publisher.amend(first, as: draft, using: .all)
    #expect(changed.blob == first.blob && changed.blobType == first.blobType)
  }

  // MARK: - Pushes

  @Test func `a push carries a signed link that is the device's own`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.publish(delivery.draft(#","form":"alert","badge":true"#))
    let job = try #require(try await delivery.lease().first)
    let text = job.push.text.json
    #expect(text.contains("https://push.example/media/0/ios?expires="))
    #expect(text.contains("&to=\(job.id).\(job.push.id)") && text.contains(#""badge":1"#))
    #expect(job.push.collapseID == "rich-0" && job.push.text.kind == .alert)
    #expect(job.push.target == .device(handle: "AA", platform: "apns"))
    let event = try await #require(try delivery.pushEvents(for: "alice").first)
    #expect(event.contains("https://push.example/media/0/ios?") && !event.contains("&to="))
  }

  @Test func `the link in a push that is sent later is valid from then on`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.publish(
      delivery.draft(#","form":"alert","notBefore":"2027-03-01T00:00:00Z""#))
    delivery.clock.advance(by: .seconds(60 * 86_400))
    let text = try #require(try await delivery.lease().first).push.text.json
    let expires = try #require(text.firstMatch(of: /expires=([0-9]+)/).flatMap { Int($0.1) })
    let sent = Int(delivery.clock.date.timeIntervalSince1970)
    #expect((0...3600).contains(expires - sent - 7 * 86_400))
  }

  @Test func `a silent push has an alert to fall back on, an alert has none`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.publish(delivery.draft())
    try await delivery.publish(delivery.draft(#","form":"alert""#))
    let jobs = try await delivery.lease()
    try #require(jobs.count == 2)
    #expect(jobs[0].push.text.kind == .background && jobs[0].push.message?.id == 0)
    #expect(jobs[1].push.text.kind == .alert && jobs[1].push.message?.form == .alert)
  }

  @Test func `no event is sent before the time of a notification, and none after it expired`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    let due = (delivery.clock.date + 600).formatted(.iso8601)
    let end = (delivery.clock.date + 1200).formatted(.iso8601)
    try await delivery.publish(delivery.draft(#","notBefore":"\#(due)","expires":"\#(end)""#))
    #expect(try await delivery.lease().isEmpty)
    #expect(try await delivery.store.events.releaseHeldEvents() == delivery.clock.date + 600)
    #expect(try await delivery.pushEvents(for: "alice").isEmpty)
    delivery.clock.advance(by: .seconds(600))
    #expect(try await delivery.store.events.releaseHeldEvents() == nil)
    #expect(try await delivery.pushEvents(for: "alice").count == 1)
    #expect(try await delivery.lease().map(\.push.expires) == [delivery.clock.date + 600])
    delivery.clock.advance(by: .seconds(600))
    #expect(try await delivery.pushEvents(for: "alice").isEmpty)
    #expect(try await delivery.store.notifications.notification(0) == nil)
  }

  @Test func `a text for one user is a push without a notification`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.register("BB", of: "bob")
    try await delivery.publisher.announcement.announce("Hi", to: "alice")
    #expect(try await delivery.pushEvents(for: "alice") == [#"{"aps":{"alert":"Hi"}}"#])
    #expect(
      try await delivery.lease().map(\.push.target) == [
        .device(handle: "AA", platform: "apns")
      ])
    #expect(
      try await delivery.store.notifications.inbox(
        of: delivery.id("alice"), unreadOnly: false, limit: 9, before: nil
      ).isEmpty)
    #expect(try await delivery.pushEvents(for: "bob").isEmpty)
  }

  @Test func `pushes to users without a registered device go to Azure's hub`() async throws {
    let delivery = try await DeliveryFixture(push: "azure")
    try await delivery.register("BB", of: "bob")
    try await delivery.publish(delivery.draft(to: #"["username:alice","username:bob"]"#))
    let targets = try await delivery.lease("azure").map(\.push.target)
    #expect(
      targets == [
        .device(handle: "BB", platform: "apns"), .audience(try TagExpression("username:alice")),
      ])
    #expect(try await delivery.pushEvents(for: "alice").isEmpty, "the embedded gateway is off")
  }

  @Test func `in demo mode a guest exists from the first notification to it`()
    async throws
  {
    let delivery = try await DeliveryFixture(admitsGuests: true)
    let draft = try delivery.draft(to: #"["username:zoe","username:a:b"]"#)
    #expect(try await delivery.publish(draft).reach.unknown == ["a:b", "zoe"], "misspelled?")
    #expect(try await delivery.publish(draft).reach.unknown == ["a:b"])
    #expect(try await delivery.store.notifications.receipts(of: 0).map(\.user) == ["zoe"])
  }

  @Test func `a subscription gets the text of Web Push, over the lane of its push service`()
    async throws
  {
    let delivery = try await DeliveryFixture(push: "apns,webpush")
    try await delivery.register("AA", of: "alice")
    for (device, service) in [("b", "https://one"), ("c", "https://two"), ("d", "https://one")] {
      _ = try await delivery.store.accounts.putRegistration(
        device, user: delivery.id("alice"), platform: "webpush", handle: "\(service)/\(device)",
        tags: ["username:alice"], keys: "p.a", lane: WebPushLane.name(of: service))
    }
    let published = try await delivery.publish(delivery.draft(#","form":"silent""#))
    #expect(published.reach.devicesWithoutLane == 0)
    #expect(try await delivery.lease().count == 1)
    let pushes = try await delivery.lease("webpush:https://one")
    #expect(
      pushes.map(\.push.target) == [
        .subscription(endpoint: "https://one/b", keys: "p.a"),
        .subscription(endpoint: "https://one/d", keys: "p.a"),
      ])
    let push = try #require(pushes.first)
    #expect(push.push.text.kind == .background, "which makes it less urgent")
    #expect(push.push.collapseID == "rich-0")
    let json = push.push.text.json
    #expect(json.hasPrefix(#"{"richId":"0","richMessage":"Hi","richType":"note","att":{"url":"#))
    #expect(json.contains("&to=\(push.id).\(push.push.id)"))

    try await delivery.publisher.announcement.announce("From bob: hi", to: "alice")
    let texts = try await delivery.lease("webpush:https://two").map(\.push.text.json)
    #expect(texts.count == 2 && texts.last == #"{"richMessage":"From bob: hi"}"#)
  }

  @Test func `without Web Push a subscription counts as unreached`() async throws {
    let delivery = try await DeliveryFixture(push: "apns")
    _ = try await delivery.store.accounts.putRegistration(
      "b", user: delivery.id("alice"), platform: "webpush", handle: "https://one/b",
      tags: ["username:alice"], keys: "p.a", lane: WebPushLane.name(of: "https://one"))
    let published = try await delivery.publish(delivery.draft())
    #expect(published.reach.devicesWithoutLane == 1)
    #expect(try await delivery.lease("webpush:https://one").isEmpty)
  }

  @Test func `an override is in the push, and one that leaves no room for the rest is named`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    func draft(_ own: Int, _ title: Int) throws -> Draft {
      let (own, title) = (
        String(repeating: "x", count: own), String(repeating: "t", count: title)
      )
      return try delivery.draft(
        #","title":"\#(title)","data":{"a":"\#(title.prefix(1000))"},"apns":{"own":"\#(own)","#
          + #""headers":{"apns-priority":"1"}}"#)
    }
    try await delivery.publish(draft(1900, 700))
    let push = try #require(try await delivery.lease().first?.push)
    #expect(push.text.json.contains(#""own":"xxx"#))
    #expect(!push.text.json.contains("headers") && push.text.json.utf8.count <= 4096)
    let named = try await delivery.refusal(draft(1990, 1024))
    #expect(named.faults.map(\.member) == ["apns"] && named.code == .rejected)
    #expect(named.reason.contains("Shorten apns."))
  }
}
