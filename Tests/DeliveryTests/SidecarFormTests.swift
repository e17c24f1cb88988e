import Foundation
import Intake
import Store
import TestSupport
import Testing

@testable import Delivery

/// Files, sidecars and results whose names are in different forms of Unicode.
@Suite(.timeLimit(.minutes(1))) struct SidecarFormTests {
  private static let composed = "m\u{FC}sli.bin"
  private static let decomposed = "mu\u{308}sli.bin"
  private static let toAlice = #"{"message":"Own","to":["username:alice"]}"#

  private func publisher(
    _ delivery: DeliveryFixture, isPublishFolder: Bool
  ) -> SidecarPublisher {
    var assets = delivery.assets
    if isPublishFolder {
      assets.folder = DropFolder(path: delivery.scratch.path + "/assets/outbox")
    }
    return SidecarPublisher(
      assets, delivery.publisher, sender: "shop", isDemo: false, isPublishFolder: isPublishFolder,
      settle: 0)
  }

  /// The names in a folder, as bytes: strings in different forms are equal.
  private func names(_ delivery: DeliveryFixture, _ folder: String) -> Set<[UInt8]> {
    Set(delivery.scratch.names(in: folder).map { Array($0.utf8) })
  }

  @Test(arguments: [(composed, decomposed), (decomposed, composed)])
  func `a sidecar is its file's in another form`(file: String, other: String) async throws {
    for folder in ["assets/file/", "assets/outbox/file/"] {
      let delivery = try await DeliveryFixture()
      try delivery.scratch.write("\0one", to: folder + file)
      try delivery.scratch.write(Self.toAlice, to: folder + other + ".notify.json")
      try delivery.scratch.write(
        #"{"message":"Default","to":["username:bob"]}"#, to: folder + "default.notify.json")
      let publisher = publisher(delivery, isPublishFolder: folder.contains("outbox"))
      for name in [file, other] {
        #expect(await publisher.publish("file", name, .none, ofSidecar: name == other) == nil)
      }
      let sent = try #require(try await delivery.store.notifications.notification(0))
      #expect(sent.message == "Own" && Array(sent.payload.utf8) == Array(Self.composed.utf8))
      #expect(try await delivery.store.notifications.notification(1) == nil)
      #expect(names(delivery, folder).contains(Array((file + ".notify.sent.json").utf8)))
      #expect(names(delivery, folder).count == 4)
    }
  }

  @Test func `a result in another form is found and replaced`() async throws {
    let delivery = try await DeliveryFixture()
    let publisher = publisher(delivery, isPublishFolder: true)
    let folder = "assets/outbox/file/"
    try delivery.scratch.write("\0one", to: folder + Self.composed)
    #expect(await publisher.publish("file", Self.composed, .none, ofSidecar: false) == nil)
    try #require(
      rename(
        delivery.scratch.path + "/" + folder + Self.composed + ".notify.error.txt",
        delivery.scratch.path + "/" + folder + Self.decomposed + ".notify.error.txt") == 0)
    try delivery.scratch.write(Self.toAlice, to: folder + Self.composed + ".notify.json")
    #expect(await publisher.publish("file", Self.composed, .none, ofSidecar: false) == nil)
    #expect(
      names(delivery, folder)
        == Set(
          ["", ".notify.json", ".notify.sent.json"].map { Array((Self.composed + $0).utf8) }))
  }

  @Test func `of two forms in the publish folder the newer is sent, the other is listed`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    let folder = PublishFolder(publisher: publisher(delivery, isPublishFolder: true))
    let path = delivery.scratch.path + "/assets/outbox/file/"
    try delivery.scratch.write(
      Self.toAlice, to: "assets/outbox/file/default.notify.json")
    for (name, text, time) in [(Self.composed, "\0old", 1), (Self.decomposed, "\0new", 2)] {
      try delivery.scratch.write(text, to: "assets/outbox/file/" + name)
      var times = [timeval(tv_sec: time, tv_usec: 0), timeval(tv_sec: time, tv_usec: 0)]
      utimes(path + name, &times)
    }
    func listed() async throws -> [String] {
      try await delivery.store.assets.assets(
        AssetFilter(), order: nil, limit: 9, after: nil
      )
      .map(\.name)
    }
    #expect(await folder.processAll { _, _ in } == nil)
    #expect(
      try await delivery.store.notifications.notification(0)?.blob?.digest == Digest(of: "\0new"))
    #expect(try await delivery.store.notifications.notification(1) == nil)
    #expect(try await listed() == [#"file/m\u{FC}sli.bin"#])
    try delivery.scratch.remove("assets/outbox/file/" + Self.decomposed)
    let gone = PendingChanges.Location(
      richType: "file", entry: FolderEntry(Array(Self.decomposed.utf8)))
    await folder.process([gone: .closed]) { _, _ in }
    #expect(try await listed() == [])
  }
}
