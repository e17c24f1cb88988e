import Foundation
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Intake

/// Content that comes back to the drop folder.
@Suite(.timeLimit(.minutes(1))) struct RestoringTests {
  private let intake: IntakeFixture

  init() throws { intake = try IntakeFixture() }

  private func versions() async throws -> [StoredAssetVersion] {
    try await intake.store.assets.assetVersions("note", "a.txt", endedAfter: .distantPast)
  }

  private func restore(
    _ version: StoredAssetVersion, mayPublish: Bool = false
  ) async throws -> AssetRecord {
    try await intake.assets.restore(
      version, as: intake.name(version.name), mayPublish: mayPublish, confirm: {})
  }

  @Test func `what a file in the folder replaced comes back, as does what that replaces`()
    async throws
  {
    try await intake.drop("good one")
    try await intake.drop("good two")
    let first = try #require(try await versions().first)
    let asset = try await restore(first)
    #expect(asset.blob == first.blob && asset.bytes == 8)
    #expect(intake.scratch.read("assets/note/a.txt") == "good one")
    // The folder's watcher finds nothing new.
    let calls = intake.calls
    let name = try intake.name("a.txt")
    #expect(try await intake.assets.examine("note", name).asset.stamp == asset.stamp)
    #expect(intake.calls == calls)
    let second = try #require(try await versions().first)
    #expect(try await versions().count == 1 && second.blob != first.blob)
    _ = try await restore(second)
    #expect(intake.scratch.read("assets/note/a.txt") == "good two")
  }

  @Test func `a removed file comes back with what was said of it`() async throws {
    try await intake.drop("good one")
    let name = try intake.name("a.txt")
    _ = try await intake.assets.describe(
      "note", name, by: AssetAmendment(alt: "A note"), mayPublish: false, confirm: {})
    try FileManager.default.removeItem(atPath: intake.scratch.path + "/assets/note/a.txt")
    await #expect(throws: ServiceError.self) { try await intake.assets.examine("note", name) }
    #expect(try await intake.asset() == nil)
    let version = try #require(try await versions().first)
    #expect(try await restore(version).alt == "A note")
    #expect(intake.scratch.read("assets/note/a.txt") == "good one")
    #expect(try await versions().isEmpty)
  }

  @Test func `labels come back with a removed file, and stay with other content`() async throws {
    try await intake.drop("good one")
    let name = try intake.name("a.txt")
    func label(_ labels: String...) async throws -> [String] {
      try await intake.assets.describe(
        "note", name, by: AssetAmendment(labels: labels), mayPublish: false, confirm: {}
      ).labels
    }
    #expect(try await label("sale", " e\u{301}te ", "sale") == ["sale", "\u{e9}te"])
    try await intake.drop("good two")
    #expect(try await intake.asset()?.labels == ["sale", "\u{e9}te"])
    // A file beside it says the text, not the labels.
    try intake.scratch.write(#"{"alt":"now"}"#, to: "assets/note/a.txt.describe.json")
    _ = try await intake.assets.examine("note", name)
    #expect(try await intake.asset()?.labels == ["sale", "\u{e9}te"])
    #expect(try await label("new") == ["new"])
    #expect(try await intake.asset()?.alt == "now")
    // What it had before does not change the labels that it has.
    let first = try #require(try await versions().first)
    #expect(try await restore(first).labels == ["new"])
    for file in ["a.txt", "a.txt.describe.json"] {
      try FileManager.default.removeItem(atPath: intake.scratch.path + "/assets/note/" + file)
    }
    await #expect(throws: ServiceError.self) { try await intake.assets.examine("note", name) }
    let last = try #require(try await versions().first)
    #expect(try await restore(last).labels == ["new"])
    #expect(try await intake.asset()?.labels == ["new"])
  }

  @Test func `what a file beside it says holds`() async throws {
    try await intake.drop("good one")
    let name = try intake.name("a.txt")
    _ = try await intake.assets.describe(
      "note", name, by: AssetAmendment(alt: "then"), mayPublish: false, confirm: {})
    try await intake.drop("good two")
    try intake.scratch.write(#"{"alt":"now"}"#, to: "assets/note/a.txt.describe.json")
    _ = try await intake.assets.examine("note", name)
    let version = try #require(try await versions().first)
    #expect(version.alt == "then")
    #expect(try await restore(version).alt == "now")
  }

  @Test func `what the plugin does not accept any more, or others would publish, changes nothing`()
    async throws
  {
    try await intake.drop("good one")
    try await intake.drop("good two")
    let version = try #require(try await versions().first)
    try intake.scratch.write("{}", to: "assets/note/a.txt.notify.json")
    await #expect { try await restore(version) } throws: {
      ($0 as? ServiceError)?.code == .forbidden
    }
    _ = try await restore(version, mayPublish: true)
    try FileManager.default.removeItem(
      atPath: intake.scratch.path + "/assets/note/a.txt.notify.json")
    let second = try #require(try await versions().first)
    try FileManager.default.removeItem(atPath: intake.store.blobs.path(of: second.blob))
    await #expect { try await restore(second) } throws: {
      ($0 as? ServiceError)?.code == .notFound
    }
    #expect(intake.scratch.read("assets/note/a.txt") == "good one")
    #expect(try await intake.asset()?.blob == version.blob)
  }

  @Test func `a refused file is replaced by what was there before`() async throws {
    try await intake.drop("good one")
    try await intake.drop("poor")
    #expect(try await intake.asset()?.state == .refused)
    let version = try #require(try await versions().first)
    #expect(try await restore(version).state != .refused)
    #expect(try await versions().isEmpty, "what was refused is not kept")
  }
}
