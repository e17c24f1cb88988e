import Foundation
import Media
import PluginHost
import Primitives
import RichPushAPI
import Store
import Synchronization
import TestSupport
import Testing
import Waiting

@testable import Intake

@Suite(.timeLimit(.minutes(1))) struct ReconciliationTests {
  /// Records what is to be published.
  private final class Publications: SidecarPublishing {
    private let files = Mutex<[String]>([])
    private let mustRetry: Bool

    init(mustRetry: Bool = false) { self.mustRetry = mustRetry }

    var all: [String] { files.withLock { $0.sorted() } }

    func publish(
      _ richType: String, _ file: String, _ report: PendingChanges.Report, ofSidecar: Bool
    ) async -> Duration? {
      files.withLock { $0.append(richType + "/" + file) }
      return mustRetry ? .seconds(2) : nil
    }
  }

  private func catalogue(_ intake: IntakeFixture) async throws -> [String] {
    try await intake.store.assets.assets(
      AssetFilter(), order: nil, limit: 100, after: nil
    ).map {
      "\($0.richType)/\($0.name) \($0.state.rawValue)"
    }
  }

  private func location(_ name: String) -> PendingChanges.Location {
    PendingChanges.Location(richType: "note", entry: FolderEntry(Array(name.utf8)))
  }

  @Test func `makes the catalogue equal to the folder`() async throws {
    let intake = try IntakeFixture()
    let folder = Reconciliation(assets: intake.assets, publisher: nil)
    for (path, text) in [
      ("note/a.txt", "good"), ("note/b.txt", "bad"), ("note/.hidden", "good"),
      ("note/half.part", "good"), ("stray.txt", "good"), ("other/c.txt", "good"),
    ] { try intake.scratch.write(text, to: "assets/" + path) }
    #expect(await folder.processAll { _, _ in } == nil)
    #expect(
      try await catalogue(intake) == [
        "./stray.txt refused", "note/a.txt preparing", "note/b.txt refused", "other/c.txt refused",
      ])
    #expect(
      try await intake.asset("c.txt", of: "other")?.reason?.contains("there are: note") == true)

    try intake.scratch.remove("assets/note/b.txt")
    try intake.scratch.remove("assets/stray.txt")
    try intake.scratch.remove("assets/other")
    let calls = intake.calls
    #expect(await folder.processAll { _, _ in } == nil)
    #expect(try await catalogue(intake) == ["note/a.txt preparing"])
    #expect(intake.calls == calls, "what has not changed is not checked again")
  }

  @Test func `a folder that cannot be read is reported, and nothing is forgotten`() async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good")
    let folder = Reconciliation(assets: intake.assets, publisher: nil)
    try FileManager.default.moveItem(
      atPath: intake.scratch.path + "/assets", toPath: intake.scratch.path + "/away")
    #expect(await folder.processAll { _, _ in }?.contains("cannot be read") == true)
    #expect(try await intake.asset() != nil)
    #expect(try await intake.asset(".", of: ".")?.state == .refused)
    try FileManager.default.moveItem(
      atPath: intake.scratch.path + "/away", toPath: intake.scratch.path + "/assets")
    #expect(await folder.processAll { _, _ in } == nil)
    #expect(try await catalogue(intake) == ["note/a.txt preparing"])
  }

  @Test func `an incomplete file is examined again`() async throws {
    let intake = try IntakeFixture()
    try intake.scratch.write("good", to: "assets/note/a.txt")
    let writer = try #require(
      FileHandle(forWritingAtPath: intake.scratch.path + "/assets/note/a.txt"))
    let retries = Retries()
    let folder = Reconciliation(assets: intake.assets, publisher: nil)
    await folder.process(
      [location("a.txt"): .none, location("x.tmp"): .closed], retry: retries.retry)
    #expect(retries.all == ["note/a.txt"])
    try writer.close()
    await folder.process([location("a.txt"): .closed], retry: retries.retry)
    #expect(retries.all == ["note/a.txt"])
    #expect(try await catalogue(intake) == ["note/a.txt preparing"])
  }

  @Test func `a busy plugin means another attempt, not a refusal`() async throws {
    let intake = try IntakeFixture(
      script: "printf 'Status: 503\\nContent-Type: text/plain\\n\\nLater.'")
    try intake.scratch.write("good", to: "assets/note/a.txt")
    let retries = Retries()
    await Reconciliation(assets: intake.assets, publisher: nil).process(
      [location("a.txt"): .closed], retry: retries.retry)
    #expect(retries.all == ["note/a.txt"])
    #expect(try await catalogue(intake) == [])
  }

  @Test func `what a file says of another holds as long as it is there`() async throws {
    let intake = try IntakeFixture(
      manifest: #"{"verbs":["validate","render"],"query":["focus=0.5,0.5"]}"#)
    let folder = Reconciliation(assets: intake.assets, publisher: nil)
    let description = location("a.txt.describe.json")
    func describe(_ text: String?, isTold: Bool = true) async throws -> AssetRecord? {
      let path = "assets/note/a.txt.describe.json"
      if let text {
        try intake.scratch.write(text, to: path)
      } else {
        try intake.scratch.remove(path)
      }
      if isTold {
        await folder.process([description: .closed]) { _, _ in }
      } else {
        #expect(await folder.processAll { _, _ in } == nil)
      }
      return try await intake.asset()
    }
    try await intake.drop("good")
    try await intake.prepare(until: .ready)
    for isTold in [true, false] {
      let calls = intake.calls
      let both = try await describe(#"{"alt":"A dog","focus":"0.2,0.6"}"#, isTold: isTold)
      #expect(both?.alt == "A dog" && both?.focus == "0.2,0.6" && both?.state == .preparing)
      #expect(intake.calls == calls, "the file itself is not checked again")
      try await intake.prepare(until: .ready)
      let text = try await describe(#"{"alt":"A cat"}"#, isTold: isTold)
      #expect(text?.alt == "A cat" && text?.focus == nil)
      try await intake.prepare(until: .ready)
      let stamp = try await intake.asset()?.stamp
      #expect(await folder.processAll { _, _ in } == nil)
      #expect(try await intake.asset()?.stamp == stamp && text?.isDescribedByFile == true)
      #expect(try await intake.asset()?.state == .ready, "nothing is prepared again")
      let none = try await describe(nil, isTold: isTold)
      #expect(none?.alt == nil && none?.focus == nil && none?.state == .ready)
      #expect(try await catalogue(intake) == ["note/a.txt ready"])
    }
  }

  @Test(arguments: [
    "", "{", "[]", #"{"alt":1}"#, #"{"focus":"2,2"}"#, #"{"altt":"a"}"#,
    String(repeating: " ", count: 20_000) + "{}",
  ])
  func `a description that is not valid is listed, and its file is not`(_ text: String) async throws
  {
    let intake = try IntakeFixture()
    let folder = Reconciliation(assets: intake.assets, publisher: nil)
    try intake.scratch.write("good", to: "assets/note/a.txt")
    try intake.scratch.write(text, to: "assets/note/a.txt.describe.json")
    for _ in 0..<2 { #expect(await folder.processAll { _, _ in } == nil) }
    #expect(
      try await catalogue(intake) == ["note/a.txt preparing", "note/a.txt.describe.json refused"])
    let reason = try await intake.asset("a.txt.describe.json")?.reason
    #expect(reason?.hasPrefix("It does not describe “a.txt”: ") == true, "\(reason ?? "")")
    try intake.scratch.write(#"{"alt":"A dog"}"#, to: "assets/note/a.txt.describe.json")
    await folder.process([location("a.txt.describe.json"): .closed]) { _, _ in }
    #expect(try await catalogue(intake) == ["note/a.txt preparing"])
    #expect(try await intake.asset()?.alt == "A dog")
  }

  @Test func `a file with a sidecar is published, whichever of the two is new`() async throws {
    let intake = try IntakeFixture()
    let publications = Publications()
    let folder = Reconciliation(assets: intake.assets, publisher: publications)
    try intake.scratch.write("good", to: "assets/note/a.txt")
    await folder.process([location("a.txt"): .closed]) { _, _ in }
    #expect(publications.all == [], "it has no sidecar")
    try intake.scratch.write("{}", to: "assets/note/a.txt.notify.json")
    await folder.process([location("a.txt.notify.json"): .closed]) { _, _ in }
    #expect(publications.all == ["note/a.txt"])
    try intake.scratch.write("good too", to: "assets/note/a.txt")
    await folder.process([location("a.txt"): .closed]) { _, _ in }
    #expect(publications.all == ["note/a.txt", "note/a.txt"])
    // After a restart, too.
    _ = await folder.processAll { _, _ in }
    #expect(publications.all.count == 3)
    #expect(try await catalogue(intake) == ["note/a.txt preparing"], "a sidecar is no asset")
  }

  @Test func `what could not be published now is tried again`() async throws {
    let intake = try IntakeFixture()
    let retries = Retries()
    try intake.scratch.write("{}", to: "assets/note/a.txt.notify.json")
    let folder = Reconciliation(assets: intake.assets, publisher: Publications(mustRetry: true))
    await folder.process([location("a.txt.notify.json"): .closed], retry: retries.retry)
    #expect(retries.all == ["note/a.txt.notify.json"])
  }

  @Test func `without publishing a sidecar and the publish folder are refused with the reason`()
    async throws
  {
    let intake = try IntakeFixture()
    for name in ["a.txt.notify.json", "a.txt.notify.sent.json"] {
      try intake.scratch.write("{}", to: "assets/note/" + name)
    }
    try intake.scratch.write("good", to: "assets/outbox/note/b.txt")
    let folder = Reconciliation(assets: intake.assets, publisher: nil)
    #expect(folder.watchedFolders == ["note", "outbox", "outbox/note"])
    _ = await folder.processAll { _, _ in }
    #expect(
      try await catalogue(intake) == [
        "note/a.txt.notify.json refused", "outbox/note/b.txt refused",
      ])
    #expect(try await intake.asset("note/b.txt", of: "outbox")?.reason == NotifySidecar.isDisabled)
    try intake.scratch.remove("assets/outbox/note/b.txt")
    _ = await folder.processAll { _, _ in }
    #expect(try await catalogue(intake) == ["note/a.txt.notify.json refused"])
  }
}

@Suite(.timeLimit(.minutes(1))) struct FolderMonitorTests {
  @Test func `catalogues the files at the start, and those dropped, changed and removed later`()
    async throws
  {
    let intake = try IntakeFixture()
    try intake.scratch.write("good", to: "assets/note/old.txt")
    try intake.scratch.write("half", to: "assets/note/.richpush-upload-abc")
    let monitor = FolderMonitor(
      Reconciliation(assets: intake.assets, publisher: nil), log: intake.log.log)
    monitor.start()
    defer { monitor.stop() }
    try await eventually("the old one") { try await intake.asset("old.txt") != nil }
    #expect(intake.scratch.read("assets/note/.richpush-upload-abc") == nil, "it is unfinished")
    try intake.scratch.write("good", to: "assets/note/new.txt")
    try await eventually("the new one") { try await intake.asset("new.txt")?.state == .preparing }
    try intake.scratch.write("bad", to: "assets/note/new.txt")
    try await eventually("the change") { try await intake.asset("new.txt")?.state == .refused }
    try intake.scratch.remove("assets/note/new.txt")
    try await eventually("the removal") { try await intake.asset("new.txt") == nil }
    // A folder that is new is watched, too.
    try intake.scratch.installPlugin(
      "memo", manifest: IntakeFixture.manifest, IntakeFixture.picky)
    try intake.scratch.write("good", to: "assets/memo/a.txt")
    try await eventually("the new folder") { try await intake.asset(of: "memo") != nil }
    symlink("/etc/passwd", intake.scratch.path + "/assets/memo/link")
    try await eventually("a link, which is never closed") {
      try await intake.asset("link", of: "memo")?.reason?.contains("symbolic link") == true
    }
    #expect(try await intake.asset("old.txt")?.state == .preparing)
  }

  @Test func `logs that the folder cannot be read`() async throws {
    let intake = try IntakeFixture()
    try intake.scratch.remove("assets")
    let monitor = FolderMonitor(
      Reconciliation(assets: intake.assets, publisher: nil), log: intake.log.log)
    monitor.start()
    defer { monitor.stop() }
    try await eventually("it is logged") { intake.log.contain("cannot be read") }
  }

  @Test func `scans more often where the kernel reports nothing, at most a twentieth of the time`()
  {
    func interval(_ cost: Duration, isShare: Bool = false, isWatched: Bool = true) -> Duration {
      var interval = RescanInterval(isShare: isShare)
      interval.update(cost, isWatched: isWatched, problem: nil)
      return interval.interval
    }
    #expect(interval(.milliseconds(1)) == .seconds(30))
    #expect(interval(.milliseconds(100)) == .seconds(100))
    #expect(interval(.seconds(10)) == .seconds(3600))
    #expect(interval(.milliseconds(1), isWatched: false) == .seconds(1))
    #expect(interval(.seconds(2), isWatched: false) == .seconds(40))
    #expect(interval(.milliseconds(1), isShare: true) == .seconds(1))
    var troubled = RescanInterval(isShare: false)
    troubled.update(.zero, isWatched: true, problem: "gone")
    #expect(troubled.interval == .seconds(1))
  }

  @Test func `a name is examined when its writer has closed it, otherwise after a delay`()
    async throws
  {
    func location(_ name: String) -> PendingChanges.Location {
      PendingChanges.Location(richType: "note", entry: FolderEntry(Array(name.utf8)))
    }
    var (changes, early) = (PendingChanges(), [location("b"): PendingChanges.Report.none])
    // Once more if the machine was too busy to look within the delay.
    for _ in 0..<10 where early[location("b")] != nil {
      changes = PendingChanges()
      changes.add([
        .created(location("a")), .created(location("b")), .complete(location("a"), .other),
      ])
      await changes.signal.wait()
      early = changes.take().names
    }
    #expect(early.keys.map(\.entry.shown) == ["a"] && early.values.allSatisfy(\.isClosed))
    var late: [PendingChanges.Location: PendingChanges.Report] = [:]
    while late.isEmpty {
      await changes.signal.wait()
      late = changes.take().names
    }
    #expect(late == [location("b"): PendingChanges.Report.none])
    changes.add([.overflow])
    #expect(changes.take().includesEverything && !changes.take().includesEverything)
  }
}
