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

@Suite(.timeLimit(.minutes(1))) struct SidecarPublisherTests {
  private func publisher(
    _ delivery: DeliveryFixture, sender: String = "shop", isPublishFolder: Bool = false
  ) -> SidecarPublisher {
    var assets = delivery.assets
    if isPublishFolder {
      assets.folder = DropFolder(path: delivery.scratch.path + "/assets/outbox")
    }
    return SidecarPublisher(
      assets, delivery.publisher, sender: sender, isDemo: false, isPublishFolder: isPublishFolder,
      settle: 0)
  }

  private static let toAlice = #"{"to":["username:alice"]}"#

  private func drop(_ delivery: DeliveryFixture, _ sidecar: String = toAlice) throws {
    try delivery.scratch.write("\0one", to: "assets/file/big logo.v2.bin")
    try delivery.scratch.write(sidecar, to: "assets/file/big logo.v2.bin.notify.json")
  }

  private func result(_ delivery: DeliveryFixture, _ kind: String) -> String? {
    delivery.scratch.read("assets/file/big logo.v2.bin.notify." + kind)
  }

  @Test func `sends a file once, with its name as the message, and writes the result`() async throws
  {
    let delivery = try await DeliveryFixture()
    let publisher = publisher(delivery)
    try drop(delivery)
    for _ in 0..<2 {
      #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    }
    let notification = try #require(try await delivery.store.notifications.notification(0))
    #expect(notification.message == "big logo.v2" && notification.payload == "big logo.v2.bin")
    #expect(try await notification.sender == delivery.id("shop"))
    #expect(try await delivery.store.notifications.notification(1) == nil)
    #expect(result(delivery, "sent.json")?.contains(#""id":0"#) == true)
    #expect(delivery.log.all.count { $0 == "file/big logo.v2.bin is sent" } == 1)

    // A server that was killed before it wrote the result.
    try delivery.scratch.remove("assets/file/big logo.v2.bin.notify.sent.json")
    #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    #expect(try await delivery.store.notifications.notification(1) == nil)
    #expect(result(delivery, "sent.json")?.contains(#""id":0"#) == true)
  }

  @Test func `a file for which the sender has too many renditions under way is sent later`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    let publisher = publisher(delivery)
    try drop(delivery)
    let shop = try await delivery.id("shop")
    let plugin = try #require(delivery.host.plugin("file"))
    let (gate, opened) = AsyncStream.makeStream(of: Void.self)
    let (refusals, refused) = AsyncStream.makeStream(of: Void.self)
    await withDiscardingTaskGroup { group in
      for _ in 0..<100 {
        group.addTask { [renderer = delivery.renderer] in
          do throws(ServiceError) {
            try await renderer.inTurn(of: shop, plugin) { () async throws(ServiceError) in
              for await _ in gate {}
            }
          } catch { refused.yield() }
        }
      }
      for await _ in refusals { break }
      #expect(
        await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false)
          == PendingChanges.retryInterval)
      opened.finish()
    }
    #expect(result(delivery, "error.txt") == nil)
    #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    #expect(result(delivery, "sent.json") != nil)
  }

  @Test func `a file for many people waits for approval, and then keeps what was approved`()
    async throws
  {
    let delivery = try await DeliveryFixture(approveAbove: 1)
    let publisher = publisher(delivery)
    try drop(delivery, #"{"to":["username:alice","username:bob"]}"#)
    #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    let approvals = delivery.store.approvals
    let waiting = try #require(
      try await approvals.awaitingApproval(before: nil, limit: 9).first?.notification)
    #expect(result(delivery, "sent.json")?.contains(#""state":"awaiting""#) == true)
    #expect(
      delivery.log.all.contains("file/big logo.v2.bin awaits the approval of another publisher"))
    let (alice, bob) = (try await delivery.id("alice"), try await delivery.id("bob"))
    #expect(try await delivery.store.notifications.unreadCount(of: alice) == 0)
    let decided = try await approvals.decide(
      waiting.id, .approve(version: waiting.contentVersion), by: bob, isAdmin: true)
    guard case .decided = decided else { throw Unmet("\(decided)") }

    // It goes on to be written.
    try delivery.scratch.write("\0one and more", to: "assets/file/big logo.v2.bin")
    #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    #expect(result(delivery, "error.txt")?.contains("approval of another publisher") == true)
    let sent = try #require(try await delivery.store.notifications.notification(waiting.id))
    #expect(sent.blob == waiting.blob && !sent.awaitsApproval)
    #expect(try await delivery.store.notifications.unreadCount(of: alice) == 1)
  }

  @Test(arguments: [
    (#""title":"T","link":"https://a.example","sound":"none""#, "", "T"),
    (#""title":null,"message":null"#, "big logo.v2", nil), (#""message":"m""#, "m", nil),
    (#""message":"","form":"silent""#, "", nil),
  ])
  func `a sidecar says all that a notification can say`(
    members: String, text: String, title: String?
  ) async throws {
    let delivery = try await DeliveryFixture()
    try drop(delivery, #"{"to":["username:alice"],\#(members)}"#)
    let publisher = publisher(delivery)
    #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    #expect(result(delivery, "error.txt") == nil)
    let said = try #require(try await delivery.store.notifications.notification(0)).said
    #expect(said.text == text && said.title == title)
    #expect((said.link == "https://a.example" && said.sound == .silent) == (title != nil))
  }

  @Test func `a time is refused only if it was past when the sidecar was written`() async throws {
    let delivery = try await DeliveryFixture()
    let publisher = publisher(delivery)
    let due = Date(timeIntervalSinceNow: -3600)
    let sidecar = #"{"to":["username:alice"],"notBefore":"\#(due.formatted(.iso8601))"}"#
    func write(at time: Date) throws {
      try drop(delivery, sidecar)
      try FileManager.default.setAttributes(
        [.modificationDate: time],
        ofItemAtPath: delivery.scratch.path + "/assets/file/big logo.v2.bin.notify.json")
    }
    // An hour late, when it is written; the day before, with the server stopped over the time.
    try write(at: Date())
    #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    #expect(result(delivery, "error.txt")?.contains("was already past when") == true)
    #expect(try await delivery.store.notifications.notification(0) == nil)
    try write(at: Date(timeIntervalSinceNow: -86_400))
    #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    #expect(try await delivery.store.notifications.notification(0) != nil)
    #expect(result(delivery, "error.txt") == nil)
  }

  @Test func `another sidecar is another notification, other content soon after is a correction`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    let publisher = publisher(delivery)
    try drop(delivery)
    _ = await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false)
    try drop(delivery, #"{"message":"Two","to":["username:alice"]}"#)
    _ = await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false)
    try delivery.scratch.write("\0two", to: "assets/file/big logo.v2.bin")
    _ = await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false)
    #expect(try await delivery.store.notifications.notification(1)?.message == "Two")
    #expect(
      try await delivery.store.notifications.notification(1)?.blob?.digest == Digest(of: "\0two"))
    #expect(
      try await delivery.store.notifications.notification(0)?.blob?.digest == Digest(of: "\0one"))
    #expect(try await delivery.store.notifications.notification(2) == nil)
  }

  @Test(arguments: [
    ("[]", "not a JSON object"), (#"{"message":"m"}"#, "to is missing"),
    (#"{"to":["username:carol"]}"#, "There is no user “carol”."),
    (#"{"to":["username:alice"],"richType":"img"}"#, "richType must not be"),
    (#"{"to":["username:alice"],"payload":"a"}"#, "payload must not be"),
    (#"{"to":["username:alice"],"idempotencyKey":"a"}"#, "idempotencyKey must not be"),
    (#"{"to":["username:alice"],"too":1}"#, "Unknown field “too”"),
  ])
  func `writes why nothing was sent, and sends once that is fixed`(
    sidecar: String, reason: String
  ) async throws {
    let delivery = try await DeliveryFixture()
    let publisher = publisher(delivery)
    try drop(delivery, sidecar)
    for _ in 0..<2 {
      #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    }
    #expect(result(delivery, "error.txt")?.contains(reason) == true)
    #expect(result(delivery, "error.txt")?.contains("Nothing was sent.") == true)
    #expect(delivery.log.all.count { $0.contains(reason) } == 1, "once, until something changes")
    try drop(delivery)
    #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    #expect(result(delivery, "error.txt") == nil && result(delivery, "sent.json") != nil)
  }

  @Test func `tries again while the file or the sidecar is being written`() async throws {
    let delivery = try await DeliveryFixture()
    let publisher = publisher(delivery)
    try drop(delivery)
    for name in ["big logo.v2.bin", "big logo.v2.bin.notify.json"] {
      let path = delivery.scratch.path + "/assets/file/" + name
      let writer = try #require(FileHandle(forWritingAtPath: path))
      #expect(
        await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) != nil,
        "\(name)")
      try writer.close()
    }
    #expect(
      try await delivery.store.notifications.notification(0) == nil
        && result(delivery, "error.txt") == nil)
    #expect(await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
    #expect(try await delivery.store.notifications.notification(0) != nil)
  }

  @Test func `new content that is still being written is not mistaken for what was there`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    try drop(delivery)
    _ = try await delivery.assets.examine("file", #require(AssetName("big logo.v2.bin")))
    let path = delivery.scratch.path + "/assets/file/big logo.v2.bin"
    let writer = try #require(FileHandle(forWritingAtPath: path))
    try writer.write(contentsOf: Data("new".utf8))
    #expect(
      await publisher(delivery).publish("file", "big logo.v2.bin", .none, ofSidecar: false) != nil)
    #expect(try await delivery.store.notifications.notification(0) == nil)
    try writer.close()
  }

  @Test func `tries again while the plugin is busy`() async throws {
    let delivery = try await DeliveryFixture(
      script: "printf 'Status: 503\\nContent-Type: text/plain\\n\\nLater.'",
      manifest: #"{"verbs":["validate","render"]}"#)
    try delivery.scratch.write("text", to: "assets/note/a.txt")
    try delivery.scratch.write(Self.toAlice, to: "assets/note/a.txt.notify.json")
    #expect(await publisher(delivery).publish("note", "a.txt", .none, ofSidecar: false) != nil)
    #expect(delivery.scratch.names(in: "assets/note").count == 2, "no note is written")
  }

  @Test func `content that its plugin failed to check is not sent, and the note says so`()
    async throws
  {
    let delivery = try await DeliveryFixture(
      script: """
        read -r line <"$RICH_ASSET_PATH"
        case $line in crash) exit 3 ;; esac
        printf 'Content-Type: text/plain\\n\\nok'
        """, manifest: #"{"verbs":["validate","render"]}"#)
    try delivery.scratch.write("good\n", to: "assets/note/a.txt")
    _ = try await delivery.assets.examine("note", #require(AssetName("a.txt")))
    try delivery.scratch.write("crash\n", to: "assets/note/a.txt")
    try delivery.scratch.write(Self.toAlice, to: "assets/note/a.txt.notify.json")
    #expect(await publisher(delivery).publish("note", "a.txt", .none, ofSidecar: false) == nil)
    let note = delivery.scratch.read("assets/note/a.txt.notify.error.txt")
    #expect(note?.contains("The new content is not used") == true)
  }

  @Test func `a sender who is not a publisher any more sends nothing`() async throws {
    let delivery = try await DeliveryFixture()
    try drop(delivery)
    for sender in ["alice", "nobody"] {
      #expect(
        await publisher(delivery, sender: sender).publish(
          "file", "big logo.v2.bin", .none, ofSidecar: false) == nil)
      #expect(result(delivery, "error.txt")?.contains("is not a publisher any more") == true)
      try delivery.scratch.remove("assets/file/big logo.v2.bin.notify.error.txt")
    }
    #expect(try await delivery.store.notifications.notification(0) == nil)
  }

  @Test func `what was sent stays sent after it has expired`() async throws {
    // Sooner only if the machine is quick enough to send it before.
    for seconds in [3.0, 10, 30] {
      let delivery = try await DeliveryFixture()
      let soon = Date(timeIntervalSinceNow: seconds)
      let text = soon.formatted(.iso8601)
      try drop(delivery, #"{"to":["username:alice"],"expires":"\#(text)"}"#)
      _ = await publisher(delivery).publish("file", "big logo.v2.bin", .none, ofSidecar: false)
      // The end is in whole seconds.
      guard soon.timeIntervalSinceNow > 1 || seconds == 30 else { continue }
      try delivery.scratch.remove("assets/file/big logo.v2.bin.notify.sent.json")
      try await eventually("it has expired") { Date() > soon }
      _ = await publisher(delivery).publish("file", "big logo.v2.bin", .none, ofSidecar: false)
      #expect(result(delivery, "error.txt") == nil && result(delivery, "sent.json") != nil)
      break
    }
  }

  @Test(arguments: [nil, 86_400])
  func `what was sent stays sent when its history is gone`(
    keptFor age: TimeInterval?
  ) async throws {
    let delivery = try await DeliveryFixture()
    let publisher = publisher(delivery)
    try drop(delivery)
    _ = await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false)
    var retention = Retention()
    retention.notificationAge = age
    delivery.clock.advance(by: .seconds(retention.historyAge + 1))
    try await delivery.publish(delivery.draft())
    #expect(try await delivery.store.collect(retention).notifications == (age == nil ? 0 : 1))
    // Touched, and with its result lost.
    try drop(delivery)
    _ = await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false)
    #expect(result(delivery, "sent.json")?.contains(#""id":0"#) == true)
    try delivery.scratch.remove("assets/file/big logo.v2.bin.notify.sent.json")
    _ = await publisher.publish("file", "big logo.v2.bin", .none, ofSidecar: false)
    #expect(result(delivery, "sent.json") != nil && result(delivery, "error.txt") == nil)
    #expect(try await delivery.store.notifications.notification(2) == nil)
    guard age == nil else { return }
    // A copy.
    try delivery.scratch.write("\0one", to: "assets/file/b.bin")
    try delivery.scratch.write(Self.toAlice, to: "assets/file/b.bin.notify.json")
    _ = await publisher.publish("file", "b.bin", .none, ofSidecar: false)
    #expect(delivery.scratch.read("assets/file/b.bin.notify.sent.json") != nil)
    #expect(try await delivery.store.notifications.notification(2) == nil)
  }

  // MARK: - The publish folder

  @Test func `sends every file of the publish folder, with its own sidecar or the folder's`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    let folder = PublishFolder(publisher: publisher(delivery, isPublishFolder: true))
    for (name, text) in [
      ("file/a.bin", "\0a"), ("file/b.bin", "\0b"), ("file/c.bin", ""),
      ("file/b.bin.notify.json", #"{"message":"Own","to":["username:bob"]}"#),
      ("file/default.notify.json", Self.toAlice), ("file/x.tmp", "x"), ("stray", "x"),
      ("note/d.txt", "no sidecar"),
    ] { try delivery.scratch.write(text, to: "assets/outbox/" + name) }
    #expect(folder.watchedFolders == ["file", "note"])
    for _ in 0..<2 { #expect(await folder.processAll { _, _ in } == nil) }
    var sent: [StoredNotification] = []
    for id in 0..<2 {
      if let found = try await delivery.store.notifications.notification(id) { sent.append(found) }
    }
    #expect(Set(sent.map(\.message)) == ["a", "Own"] && sent.count == 2)
    #expect(try await delivery.store.notifications.notification(2) == nil)
    let shown = try await delivery.store.assets.assets(
      AssetFilter(), order: nil, limit: 9, after: nil
    ).map {
      "\($0.name): \($0.reason ?? "")"
    }
    try #require(shown.count == 3)
    #expect(shown[0] == "file/c.bin: The file is empty.")
    #expect(shown[1].hasPrefix("note/d.txt: There are no recipients"))
    #expect(shown[2] == "stray: Put it into a folder of its rich type, such as outbox/img.")

    try delivery.scratch.write("\0c", to: "assets/outbox/file/c.bin")
    try delivery.scratch.remove("assets/outbox/stray")
    try delivery.scratch.remove("assets/outbox/note/d.txt")
    #expect(await folder.processAll { _, _ in } == nil)
    #expect(try await delivery.store.notifications.notification(2)?.message == "c")
    #expect(
      try await delivery.store.assets.assets(
        AssetFilter(), order: nil, limit: 9, after: nil
      ).isEmpty)
  }

  @Test func `a change of the folder's sidecar concerns every file`() async throws {
    let delivery = try await DeliveryFixture()
    let folder = PublishFolder(publisher: publisher(delivery, isPublishFolder: true))
    func process(_ name: String) async {
      let location = PendingChanges.Location(
        richType: "file", entry: FolderEntry(Array(name.utf8)))
      await folder.process([location: .closed]) { _, _ in }
    }
    try delivery.scratch.write("\0a", to: "assets/outbox/file/a.bin")
    await process("a.bin")
    #expect(
      try await delivery.store.assets.assets(
        AssetFilter(), order: nil, limit: 9, after: nil
      ).map(\.name) == ["file/a.bin"])
    try delivery.scratch.write(Self.toAlice, to: "assets/outbox/file/default.notify.json")
    await process("default.notify.json")
    #expect(try await delivery.store.notifications.notification(0)?.message == "a")
    #expect(
      try await delivery.store.assets.assets(
        AssetFilter(), order: nil, limit: 9, after: nil
      ).isEmpty)
  }
}
