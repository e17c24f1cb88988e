import Foundation
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Intake

/// Files that get another name.
@Suite(.timeLimit(.minutes(1))) struct RenamingTests {
  private let intake: IntakeFixture

  init() throws { intake = try IntakeFixture() }

  private func path(_ name: String) -> String { intake.scratch.path + "/assets/note/" + name }

  private func rename(
    _ name: String = "a.txt", to new: String, mayPublish: Bool = false
  ) async throws -> AssetRecord {
    try await intake.assets.rename(
      "note", intake.name(name), to: intake.name(new), mayPublish: mayPublish, confirm: {})
  }

  /// Drops a file, and says something of it.
  private func dropDescribed() async throws {
    try await intake.drop("good one")
    _ = try await intake.assets.describe(
      "note", intake.name("a.txt"), by: AssetAmendment(alt: "A note", labels: ["summer"]),
      mayPublish: false, confirm: {})
  }

  private func expectDescribed(_ name: String) async throws {
    let asset = try #require(try await intake.asset(name))
    #expect(asset.alt == "A note" && asset.labels == ["summer"] && asset.state != .refused)
  }

  private func versions(_ name: String) async throws -> Int {
    try await intake.store.assets.assetVersions(
      "note", name, endedAfter: .distantPast
    ).count
  }

  @Test func `the file, what is said of it and what it had before get the name`() async throws {
    try await dropDescribed()
    try await intake.drop("good two")
    let calls = intake.calls
    let renamed = try await rename(to: "b.txt")
    #expect(intake.scratch.read("assets/note/b.txt") == "good two")
    #expect(!FileManager.default.fileExists(atPath: path("a.txt")))
    #expect(renamed.name == "b.txt" && renamed.bytes == 8)
    try await expectDescribed("b.txt")
    #expect(try await intake.asset("a.txt") == nil)
    #expect(try await versions("b.txt") == 1)
    #expect(try await versions("a.txt") == 0)
    // Neither the plugin nor the folder's watcher finds anything new.
    let name = try intake.name("b.txt")
    #expect(try await intake.assets.examine("note", name).asset.stamp == renamed.stamp)
    #expect(intake.calls == calls)
    let events = try await intake.store.events.events(after: 0, for: nil, limit: 99).map(\.data)
    #expect(events.suffix(2).first == #"{"name":"a.txt","richType":"note","state":"removed"}"#)
    #expect(events.last?.contains(#""name":"b.txt""#) == true)
  }

  @Test func `nothing is overwritten, whatever form of Unicode its name has`() async throws {
    try await dropDescribed()
    try await intake.drop("good two", as: "e\u{301}.txt")
    try intake.scratch.write("good three", to: "assets/note/c.txt")
    for name in ["\u{e9}.txt", "c.txt"] {
      await #expect { try await rename(to: name) } throws: {
        ($0 as? ServiceError)?.code == .conflict
      }
    }
    #expect(intake.scratch.read("assets/note/a.txt") == "good one")
    #expect(intake.scratch.read("assets/note/c.txt") == "good three")
    try await expectDescribed("a.txt")
    #expect(try await rename(to: "a.txt").name == "a.txt")
    await #expect { try await rename("none.txt", to: "d.txt") } throws: {
      ($0 as? ServiceError)?.code == .notFound
    }
  }

  @Test func `what belongs to the name of a file does not stay behind, and others do not publish`()
    async throws
  {
    try await dropDescribed()
    for name in ["a.txt.tmp", "b.txt.describe.json"] {
      await #expect { try await rename(to: name, mayPublish: true) } throws: {
        ($0 as? ServiceError)?.code == .rejected
      }
    }
    for (file, user) in [
      ("b.txt.notify.json", ServiceError.Code.forbidden), ("a.txt.notify.json", .forbidden),
    ] {
      try intake.scratch.write("{}", to: "assets/note/" + file)
      await #expect { try await rename(to: "b.txt") } throws: {
        ($0 as? ServiceError)?.code == user
      }
      try FileManager.default.removeItem(atPath: path(file))
    }
    for file in ["a.txt.notify.json", "a.txt.describe.json"] {
      try intake.scratch.write("{}", to: "assets/note/" + file)
      await #expect { try await rename(to: "b.txt", mayPublish: true) } throws: {
        ($0 as? ServiceError)?.code == .conflict
      }
      try FileManager.default.removeItem(atPath: path(file))
    }
    #expect(intake.scratch.read("assets/note/a.txt") == "good one")
  }

  @Test(arguments: [true, false])
  func `what is said of a file goes with it when it is renamed in the folder, or the server ends`(
    isNewFoundFirst: Bool
  ) async throws {
    try await dropDescribed()
    try FileManager.default.moveItem(atPath: path("a.txt"), toPath: path("b.txt"))
    for name in isNewFoundFirst ? ["b.txt", "a.txt"] : ["a.txt", "b.txt"] {
      _ = try? await intake.assets.examine("note", intake.name(name))
    }
    try await expectDescribed("b.txt")
    #expect(try await intake.asset("a.txt") == nil)
  }

  @Test func `a copy is another file`() async throws {
    try await dropDescribed()
    try await intake.drop("good one", as: "b.txt")
    let copy = try #require(try await intake.asset("b.txt"))
    #expect(copy.alt == nil && copy.labels.isEmpty)
  }
}
