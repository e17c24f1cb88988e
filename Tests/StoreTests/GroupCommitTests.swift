import FoundationEssentials
import Glibc
import Synchronization
import Testing

@testable import Store

/// What has to be on the disk before a caller hears of success.
@Suite(.timeLimit(.minutes(1))) struct GroupCommitTests {
  private let scratch = Scratch()

  /// The real calls, recorded.
  private func recorded(by log: CallLog, folder: String) -> GroupCommit.Calls {
    var calls = GroupCommit.Calls()
    calls.fsync = { file throws(StoreError) in
      log.add(file.path, in: folder)
      try file.synchronize()
    }
    calls.fsyncFolder = { path throws(StoreError) in
      log.add("folder of " + path, in: folder)
      try FileSystem.synchronizeParent(of: path)
    }
    calls.syncfs = { file throws(StoreError) in
      log.add("file system", in: folder)
      try file.synchronizeFileSystem()
    }
    return calls
  }

  private func written(_ text: String, in folder: DataFolder) throws -> TemporaryFile {
    var writer = try HashingWriter(in: folder)
    try writer.write(Array(text.utf8))
    return writer.target
  }

  @Test(arguments: [1, 2, 60])
  func `makes the bytes durable before the name, and the name before it returns`(
    _ count: Int
  ) async throws {
    let folder = try DataFolder(scratch.folder, creates: true)
    let log = CallLog()
    let group = try GroupCommit(
      folder.blobs, calls: recorded(by: log, folder: folder.blobs))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for number in 0..<count {
        tasks.addTask {
          let file = try written("content \(number)", in: folder)
          let (path, target) = (file.file.path, folder.blobs + "/file-\(number)")
          try await group.commit(file, as: target)
          let calls = log.calls
          #expect(
            calls.contains {
              ["file system", path].contains($0.what) && !$0.names.contains("file-\(number)")
            }, "the bytes of \(number)")
          #expect(
            calls.contains {
              ["file system", "folder of " + target].contains($0.what)
                && $0.names.contains("file-\(number)")
            }, "the name of \(number)")
        }
      }
      try await tasks.waitForAll()
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.temporary).isEmpty)
  }

  @Test func `synchronizes every file by itself when the file system reports a failure`()
    async throws
  {
    let folder = try DataFolder(scratch.folder, creates: true)
    let log = CallLog()
    var calls = recorded(by: log, folder: folder.blobs)
    calls.syncfs = { _ throws(StoreError) in throw StoreError(.failed, "on purpose") }
    let fsync = calls.fsync
    calls.fsync = { file throws(StoreError) in
      try fsync(file)
      if log.lostFile == file.path { throw StoreError(.full, "lost") }
    }
    let group = try GroupCommit(folder.blobs, calls: calls)
    let files = try (0..<20).map { try written("content \($0)", in: folder) }
    log.lose(files[13].file.path)
    let failed = await withTaskGroup(of: Int?.self) { tasks in
      for (number, file) in files.enumerated() {
        tasks.addTask {
          do {
            try await group.commit(file, as: folder.blobs + "/file-\(number)")
            return nil
          } catch { return number }
        }
      }
      return await tasks.compactMap { $0 }.reduce(into: []) { $0.append($1) }
    }
    #expect(failed == [13])
    let synchronized = Set(log.calls.map(\.what))
    #expect(files.allSatisfy { synchronized.contains($0.file.path) })
    #expect(
      access(folder.blobs + "/file-13", F_OK) != 0 && access(folder.blobs + "/file-12", F_OK) == 0)
  }

  /// These calls can't succeed, so they show that they are made.
  @Test func `asks the kernel for durability`() throws {
    let device = try StoreFile("/dev/null", O_WRONLY)
    #expect(throws: StoreError.self) { try device.synchronize() }
    let path = try StoreFile(scratch.folder, 0o10000000 /* O_PATH */ | O_DIRECTORY)
    #expect(throws: StoreError.self) { try path.synchronizeFileSystem() }
    #expect(throws: StoreError.self) { try FileSystem.synchronizeFolder("/proc/nowhere") }
  }

  @Test func `tells a full disk by its code`() throws {
    let full = try StoreFile("/dev/full", O_WRONLY)
    let error = #expect(throws: StoreError.self) { try write(to: full) }
    #expect(error?.code == .full && error?.reason.contains("/dev/full") == true)
  }

  private func write(to file: StoreFile) throws(StoreError) {
    let bytes: [UInt8] = [0]
    try bytes.span.bytes.withUnsafeBytes { piece throws(StoreError) in try file.write(piece) }
  }
}

/// The synchronizing calls in order, each with the names that existed when it was made.
private final class CallLog: Sendable {
  typealias Call = (what: String, names: Set<String>)
  private let state = Mutex<[Call]>([])

  private let lost = Mutex<String?>(nil)

  var calls: [Call] { state.withLock { $0 } }
  /// The file whose fsync is to fail.
  var lostFile: String? { lost.withLock { $0 } }

  func lose(_ path: String) { lost.withLock { $0 = path } }

  func add(_ what: String, in folder: String) {
    let names = Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    state.withLock { $0.append((what, names)) }
  }
}
