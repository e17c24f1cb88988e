import Foundation
import Intake
import Primitives
import Push
import Store
import TestSupport
import Testing
import Waiting

@testable import Delivery

/// Files that are closed before all of them is written, at a time that passes only when a test says so.
@Suite(.timeLimit(.minutes(1))) struct SettlingTests {
  private let delivery: DeliveryFixture
  private let publisher: SidecarPublisher
  private let path = "assets/outbox/file/a.bin"

  init() async throws {
    delivery = try await DeliveryFixture(clock: ManualClock(at: Date()))
    publisher = Self.publisher(delivery)
    try delivery.scratch.write(
      #"{"to":["username:alice"]}"#, to: "assets/outbox/file/default.notify.json")
    try await delivery.register("a", of: "alice")
  }

  private static func publisher(
    _ delivery: DeliveryFixture, isPublishFolder: Bool = true
  ) -> SidecarPublisher {
    var assets = delivery.assets
    if isPublishFolder {
      assets.folder = DropFolder(path: delivery.scratch.path + "/assets/outbox")
    }
    return SidecarPublisher(
      assets, delivery.publisher, sender: "shop", isDemo: false, isPublishFolder: isPublishFolder,
      settle: 2, now: { [clock = delivery.clock] in clock.date })
  }

  /// Writes what the file holds now, and has it looked at.
  @discardableResult
  private func write(
    _ text: String, _ report: PendingChanges.Report = .closed
  ) async throws -> Duration? {
    try delivery.scratch.write(text, to: path)
    return await look(report)
  }

  @discardableResult
  private func look(_ report: PendingChanges.Report = .none) async -> Duration? {
    await publisher.publish("file", "a.bin", report, ofSidecar: false)
  }

  private func settle(_ seconds: Double = 2) async {
    delivery.clock.advance(by: .seconds(seconds))
    #expect(await look() == nil)
  }

  /// Has all pushes sent; returns their collapse IDs.
  @discardableResult
  private func send() async throws -> [String?] {
    let jobs = try await delivery.lease()
    _ = try await StoredPushQueue(store: delivery.store, payloads: delivery.payloads)
      .settleAndLease(
        jobs.map {
          Settlement(job: $0.id, outcome: .delivered(as: .background, reference: nil, note: nil))
        }, lane: PushLane("apns"), limit: 0, now: delivery.clock.date,
        until: delivery.clock.date)
    return jobs.map(\.push.collapseID)
  }

  private func content(_ id: Int = 0) async throws -> Digest? {
    try await delivery.store.notifications.notification(id)?.blob?.digest
  }

  private func fetch(_ id: Int = 0) async throws {
    let alice = try await delivery.id("alice")
    delivery.store.notifications.recordFetched(id, user: alice, device: nil)
    try await eventually("the fetch is recorded") {
      try await delivery.store.notifications.isFetchRecorded(id, user: alice, device: nil) == true
    }
  }

  @Test func `a file is sent when it was not changed for two seconds, and longer if it changes`()
    async throws
  {
    #expect(try await write("\0one") == .seconds(2))
    delivery.clock.advance(by: .seconds(1.5))
    #expect(try await write("\0one two") == .seconds(4), "it has changed once")
    delivery.clock.advance(by: .seconds(2.5))
    #expect(await look() == .seconds(1.5))
    #expect(try await content() == nil)
    await settle(1.5)
    #expect(try await content() == Digest(of: "\0one two"))
    #expect(try await content(1) == nil)
  }

  @Test func `it waits for a minute at most, however often it changes`() async throws {
    for number in 0..<100 {
      try await write("\0" + String(repeating: "x", count: number))
      delivery.clock.advance(by: .seconds(1))
    }
    #expect(try await write("\0end") == .seconds(60))
    #expect(try await content() == nil)
    await settle(60)
    #expect(try await content() == Digest(of: "\0end"))
  }

  @Test func `what is written in many pieces at once is one change`() async throws {
    for number in 0..<100 { try await write("\0" + String(repeating: "x", count: number)) }
    delivery.clock.advance(by: .seconds(0.1))
    #expect(try await write("\0end") == .seconds(2))
  }

  @Test func `a file that comes by a rename does not wait`() async throws {
    #expect(try await write("\0one", .renamed) == nil)
    #expect(try await content() == Digest(of: "\0one"))
  }

  @Test func `a rename of an earlier state does not vouch for what was written since`() async throws
  {
    let sidecar = delivery.scratch.path + "/assets/outbox/file/default.notify.json"
    let writer = try #require(FileHandle(forWritingAtPath: sidecar))
    #expect(try await write("\0one", .renamed) != nil, "its sidecar is being written")
    #expect(try await write("\0one two", .closed) == .seconds(2))
    try writer.close()
    #expect(await look() == .seconds(2))
    #expect(try await content() == nil)
  }

  @Test func `a file whose sidecar comes after it does not wait`() async throws {
    let sidecar = path + ".notify.json"
    #expect(try await write("\0one", PendingChanges.Report(isClosed: true, order: 1)) != nil)
    try delivery.scratch.write(#"{"to":["username:alice"]}"#, to: sidecar)
    let report = PendingChanges.Report(isClosed: true, order: 2)
    #expect(await publisher.publish("file", "a.bin", report, ofSidecar: true) == nil)
    #expect(try await content() == Digest(of: "\0one"))
  }

  @Test func `a file that comes after its sidecar waits`() async throws {
    try delivery.scratch.write(#"{"to":["username:alice"]}"#, to: path + ".notify.json")
    let report = PendingChanges.Report(isClosed: true, order: 1)
    #expect(await publisher.publish("file", "a.bin", report, ofSidecar: true) == nil)
    #expect(
      try await write("\0one", PendingChanges.Report(isClosed: true, order: 2)) == .seconds(2))
  }

  @Test func `a file that was settling when the server ended is sent once by the next one`()
    async throws
  {
    #expect(try await write("\0one") != nil)
    delivery.clock.advance(by: .seconds(60))
    for _ in 0..<2 {
      let next = Self.publisher(delivery)
      #expect(await next.publish("file", "a.bin", .none, ofSidecar: false) == nil)
    }
    #expect(try await content() == Digest(of: "\0one"))
    #expect(try await content(1) == nil)
  }

  @Test(arguments: [3.0, 3600])
  func `what nobody has fetched is amended when the rest comes, soon or late`(pause: Double)
    async throws
  {
    try await write("\0one")
    await settle()
    #expect(try await send() == ["rich-0"])
    delivery.clock.advance(by: .seconds(pause))
    #expect(try await write("\0one two") == .seconds(4))
    await settle(4)
    #expect(try await content() == Digest(of: "\0one two"))
    #expect(try await content(1) == nil)
    #expect(try await send() == ["rich-0"], "it replaces the first push on the device")
    #expect(
      delivery.scratch.read(path + ".notify.sent.json")?.contains(#""id":0"#) == true)
    // The whole file, touched or copied, is what was sent.
    try await write("\0one two")
    await settle(60)
    try delivery.scratch.write("\0one two", to: "assets/outbox/file/b.bin")
    #expect(await publisher.publish("file", "b.bin", .renamed, ofSidecar: false) == nil)
    #expect(try await content(1) == nil)
  }

  @Test func `what some have fetched is replaced, pushed again, and they are named`() async throws {
    try await write("\0one")
    await settle()
    try await fetch()
    try await send()
    delivery.clock.advance(by: .seconds(3600))
    try await write("\0one two")
    await settle(4)
    #expect(try await content() == Digest(of: "\0one two"))
    #expect(try await content(1) == nil)
    #expect(try await send() == ["rich-0"])
    let replaced = try #require(
      try await delivery.store.notifications.replacement(of: 0, limit: 10))
    #expect(replaced.users == ["alice"] && replaced.count == 1)
    #expect(delivery.log.contain("the first content was fetched by 1: alice"))
  }

  @Test func `other content within a minute is a correction, later another notification`()
    async throws
  {
    try await write("\0one")
    await settle()
    delivery.clock.advance(by: .seconds(50))
    try await write("\0two")
    await settle(30)
    #expect(try await content() == Digest(of: "\0two"), "it came within the minute")
    delivery.clock.advance(by: .seconds(61))
    try await write("\0three")
    await settle(60)
    #expect(try await content() == Digest(of: "\0two"))
    #expect(try await content(1) == Digest(of: "\0three"))
  }

  @Test func `what was withdrawn meanwhile stays withdrawn, and new content is sent anew`()
    async throws
  {
    try await write("\0one")
    await settle()
    #expect(try await delivery.store.notifications.withdraw(0))
    try await write("\0one two")
    await settle(4)
    #expect(try await content() == nil)
    #expect(try await content(1) == Digest(of: "\0one two"))
  }

  @Test func `the result of a server that was killed is found, and nobody is told twice`()
    async throws
  {
    try await write("\0one")
    await settle()
    try await write("\0one two")
    await settle(4)
    try await send()
    try delivery.scratch.remove(path + ".notify.sent.json")
    let next = Self.publisher(delivery)
    delivery.clock.advance(by: .seconds(60))
    #expect(await next.publish("file", "a.bin", .none, ofSidecar: false) == nil)
    #expect(delivery.scratch.read(path + ".notify.sent.json")?.contains(#""id":0"#) == true)
    #expect(try await send().isEmpty)
    #expect(try await content(1) == nil)
  }

  @Test func `the catalogue does not wait`() async throws {
    try delivery.scratch.write(#"{"to":["username:alice"]}"#, to: "assets/file/c.bin.notify.json")
    try delivery.scratch.write("\0one", to: "assets/file/c.bin")
    let folder = Reconciliation(
      assets: delivery.assets, publisher: Self.publisher(delivery, isPublishFolder: false))
    _ = await folder.processAll { _, _ in }
    #expect(try await delivery.store.assets.asset("file", "c.bin")?.blob == Digest(of: "\0one"))
    #expect(try await content() == nil)
  }
}
