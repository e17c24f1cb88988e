import Foundation
import Glibc
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

  @Test func `everything is examined when the kernel has dropped events`() throws {
    let scratch = try Scratch()
    let watch = try #require(FolderWatch(scratch.path) { _ in })
    defer { watch.stop() }
    var event = inotify_event()
    (event.wd, event.mask) = (-1, UInt32(IN_Q_OVERFLOW))
    #expect(watch.change(event, name: []) == .overflow)
    let changes = PendingChanges()
    changes.add([.overflow])
    #expect(changes.take().includesEverything)
    #expect(!changes.take().includesEverything)
  }

  @Test func `a renamed file counts as renamed until its bytes may have changed`() {
    let file = PendingChanges.Location(richType: "img", entry: FolderEntry(Array("a".utf8)))
    func isRenamed(_ changes: FolderWatch.Change...) -> Bool? {
      let pending = PendingChanges()
      pending.add(changes.map { .complete(file, $0) })
      return pending.take().names[file]?.isRenamed
    }
    #expect(isRenamed(.renamed) == true && isRenamed(.other, .renamed) == true)
    #expect(isRenamed(.renamed, .attributes) == true, "its mode was set")
    #expect(isRenamed(.attributes) == false)
    #expect(isRenamed(.renamed, .other) == false && isRenamed(.other, .attributes) == false)
  }
}
