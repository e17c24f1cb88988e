import Foundation
import Media
import Primitives
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Intake

/// Names that differ only in Unicode's form are one name.
@Suite(.timeLimit(.minutes(1))) struct UnicodeFormTests {
  private static let composed = "caf\u{E9}.txt"
  private static let decomposed = "cafe\u{301}.txt"

  private func location(_ name: String) -> PendingChanges.Location {
    PendingChanges.Location(richType: "note", entry: FolderEntry(Array(name.utf8)))
  }

  /// Writes a file that was modified so many seconds after the first.
  private func write(_ intake: IntakeFixture, _ text: String, _ name: String, age: Int) throws {
    try intake.scratch.write(text, to: "assets/note/" + name)
    var times = [
      timeval(tv_sec: 1_700_000_000 + age, tv_usec: 0),
      timeval(tv_sec: 1_700_000_000 + age, tv_usec: 0),
    ]
    utimes(intake.scratch.path + "/assets/note/" + name, &times)
  }

  private func removals(_ intake: IntakeFixture) async throws -> [String] {
    try await intake.store.events.events(after: 0, for: nil, limit: 1000).map(\.data).filter {
      $0.contains("removed")
    }
  }

  @Test(arguments: [(composed, decomposed), (decomposed, composed)])
  func `of two forms of one name the newer file is the asset, and the other is refused`(
    newer: String, older: String
  ) async throws {
    let intake = try IntakeFixture()
    try write(intake, "good new", newer, age: 1)
    try write(intake, "good old", older, age: 0)
    let folder = Reconciliation(assets: intake.assets, publisher: nil)
    _ = await folder.processAll { _, _ in }
    #expect(try await intake.asset(Self.composed)?.blob == Digest(of: "good new"))
    let refused = try await intake.store.assets.assets(
      AssetFilter(state: .refused), order: nil, limit: 9, after: nil)
    #expect(refused.map(\.name) == [EscapedName.plain(older)])
    #expect(refused.first?.reason?.contains("the same name") == true)
    // By an event, too, and by the name alone.
    try write(intake, "good newest", older, age: 2)
    await folder.process([location(older): .closed]) { _, _ in }
    #expect(try await intake.asset(Self.composed)?.blob == Digest(of: "good newest"))
    #expect(
      try await intake.store.assets.assets(
        AssetFilter(state: .refused), order: nil, limit: 9, after: nil
      )
      .map(\.name) == [EscapedName.plain(newer)])
    let name = try intake.name(newer)
    #expect(try await intake.assets.examine("note", name).asset.blob == Digest(of: "good newest"))
    // The older one counts when the newer one goes.
    try intake.scratch.remove("assets/note/" + older)
    await folder.process([location(older): .closed]) { _, _ in }
    #expect(try await intake.asset(Self.composed)?.blob == Digest(of: "good new"))
    #expect(
      try await intake.store.assets.assets(
        AssetFilter(state: .refused), order: nil, limit: 9, after: nil
      ).isEmpty)
    #expect(try await !removals(intake).contains { $0.contains(Self.composed) })
  }

  @Test func `no name is removed by a rename to another form, however the reports come`()
    async throws
  {
    let intake = try IntakeFixture()
    let folder = Reconciliation(assets: intake.assets, publisher: nil)
    let forms = [Self.composed, Self.decomposed]
    try intake.scratch.write("good", to: "assets/note/" + forms[0])
    await folder.process([location(forms[0]): .closed]) { _, _ in }
    for round in 0..<8 {
      let (from, to) = (forms[round % 2], forms[1 - round % 2])
      try #require(
        rename(
          intake.scratch.path + "/assets/note/" + from, intake.scratch.path + "/assets/note/" + to)
          == 0)
      switch round % 4 {
      case 0, 1:
        await folder.process([location(from): .closed, location(to): .renamed]) { _, _ in }
      case 2: await folder.process([location(from): .closed]) { _, _ in }
      default: _ = await folder.processAll { _, _ in }
      }
      #expect(try await intake.asset(Self.composed)?.blob == Digest(of: "good"))
    }
    #expect(try await removals(intake).isEmpty)
    try intake.scratch.remove("assets/note/" + forms[0])
    await folder.process([location(forms[0]): .closed]) { _, _ in }
    #expect(try await intake.asset(Self.composed) == nil)
    #expect(try await removals(intake).count == 1)
  }

  @Test func `an upload replaces the file in its form, and a removal leaves the other form`()
    async throws
  {
    let intake = try IntakeFixture()
    try intake.scratch.write("good", to: "assets/note/" + Self.decomposed)
    let name = try intake.name(Self.composed)
    try intake.scratch.write("good upload", to: "upload")
    _ = try await intake.assets.put(
      intake.scratch.path + "/upload", "note", name, mayPublish: false)
    #expect(
      intake.scratch.names(in: "assets/note").map { Array($0.utf8) } == [
        Array(Self.decomposed.utf8)
      ])
    #expect(try await intake.asset(Self.composed)?.blob == Digest(of: "good upload"))
    try write(intake, "good old", Self.composed, age: 0)
    try await intake.assets.remove("note", name, mayPublish: false)
    #expect(try await intake.asset(Self.composed)?.blob == Digest(of: "good old"))
    #expect(try await removals(intake).isEmpty)
  }

  @Test func `a dry run lists the older form as refused`() throws {
    let intake = try IntakeFixture()
    try write(intake, "good", Self.decomposed, age: 1)
    try write(intake, "good", Self.composed, age: 0)
    let folder = intake.assets.folder
    let entries = try folder.entries("note").map(\.entry)
    let names = folder.names("note", for: entries.compactMap(\.spelling))
    #expect(
      entries.compactMap { folder.kind(of: $0, "img", among: names, publishes: false).shown }
        .sorted()
        == [EscapedName.plain(Self.composed), Self.composed].sorted())
  }
}
