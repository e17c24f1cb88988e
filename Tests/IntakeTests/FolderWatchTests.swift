import Foundation
import Synchronization
import TestSupport
import Testing
import Waiting

@testable import Intake

@Suite(.timeLimit(.minutes(1))) struct FolderWatchTests {
  @Test func `a folder that is made while folders are listed is watched or reported`() async throws
  {
    let scratch = try Scratch()
    try scratch.write("x", to: "type0/a.txt")
    let events = Mutex<[FolderWatch.Event]>([])
    let watch = try #require(FolderWatch(scratch.path) { new in events.withLock { $0 += new } })
    defer { watch.stop() }
    var lists = 0
    let isWhole = watch.watch {
      lists += 1
      let names = (try? FileManager.default.contentsOfDirectory(atPath: scratch.path)) ?? []
      // After the listing, which does not contain it.
      try? FileManager.default.createDirectory(
        atPath: scratch.path + "/type\(min(lists, 2))", withIntermediateDirectories: true)
      return names
    }
    #expect(isWhole)
    try await eventually("the last folder is reported") {
      events.withLock { $0.contains(.unknown) }
    }
    try scratch.write("x", to: "type1/a.txt")
    let file = PendingChanges.Location(richType: "type1", entry: FolderEntry(Array("a.txt".utf8)))
    try await eventually("its file is reported") {
      events.withLock { events in
        events.contains { if case .complete(file, _) = $0 { true } else { false } }
      }
    }
  }
}
