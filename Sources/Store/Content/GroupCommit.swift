import Dispatch
import Glibc
import Synchronization

/// Makes new files durable and gives them their final names: a few by fsync(2) each, many together by
/// syncfs(2).
///
/// On Linux syncfs waits until everything written to the file system before has reached the disk, with
/// "the same guarantees as fsync called on every file" (sync(2)). So each round makes durable, with one
/// call, the bytes of the files that arrived since the last round and the names the last round gave.
///
/// No file is renamed before its bytes are durable, and no caller resumes before the name is.
final class GroupCommit: Sendable {
  /// The system calls that make files durable; tests replace them to check that they are made in time.
  struct Calls: Sendable {
    var fsync: @Sendable (StoreFile) throws(StoreError) -> Void = { file throws(StoreError) in
      try file.synchronize()
    }
    var fsyncFolder: @Sendable (_ file: String) throws(StoreError) -> Void = {
      path throws(StoreError) in try FileSystem.synchronizeParent(of: path)
    }
    var syncfs: @Sendable (StoreFile) throws(StoreError) -> Void = { file throws(StoreError) in
      try file.synchronizeFileSystem()
    }
  }

  private struct Request {
    /// Nil if the file has its final name already.
    let file: TemporaryFile?
    let target: String
    let continuation: CheckedContinuation<Void, any Error>

    func fail(_ error: any Error) {
      file?.remove()
      continuation.resume(throwing: error)
    }
  }

  private struct State {
    var waiting: [Request] = []
    /// How many are being made durable by fsync.
    var single = 0
    var isRunningRounds = false
  }

  private let state = Mutex(State())
  // Kept open: the kernel reports a failed write-back to descriptors that were open when it happened.
  private let fileSystem: StoreFile
  private let calls: Calls
  private let queue = DispatchQueue(label: "store.sync", attributes: .concurrent)

  /// Up to so many at once use fsync: syncfs also waits for whatever other programs are writing.
  private static let fsyncLimit = 2
  /// The pause before each round, in microseconds, in which more requests join it.
  private static let roundDelay: UInt32 = 8000

  /// Prepares for files on the file system of the folder `path`.
  init(_ path: String, calls: Calls = Calls()) throws(StoreError) {
    self.calls = calls
    fileSystem = try StoreFile(path, O_RDONLY | O_DIRECTORY)
  }

  /// Renames a file to `target` and returns once its bytes and its name would survive a power cut.
  ///
  /// Without a file, returns once `target`, which another request may just have named, is durable.
  func commit(_ file: TemporaryFile?, as target: String) async throws {
    try await withCheckedThrowingContinuation { continuation in
      let request = Request(file: file, target: target, continuation: continuation)
      let (isSingle, isFirst) = state.withLock { state in
        if !state.isRunningRounds, state.single < Self.fsyncLimit {
          state.single += 1
          return (true, false)
        }
        state.waiting.append(request)
        defer { state.isRunningRounds = true }
        return (false, !state.isRunningRounds)
      }
      if isSingle {
        queue.async {
          self.commitAlone(request)
          self.state.withLock { $0.single -= 1 }
        }
      }
      if isFirst { queue.async { self.runRounds() } }
    }
  }

  private func runRounds() {
    var renamed: [Request] = []
    usleep(Self.roundDelay)
    while case let new = takeWaiting(after: renamed), !new.isEmpty || !renamed.isEmpty {
      defer { usleep(Self.roundDelay) }
      do throws(StoreError) {
        try calls.syncfs(fileSystem)
      } catch {
        // A write-back failed; fsync of each file tells which.
        for request in renamed { commitAlone(request, isRenamed: true) }
        for request in new { commitAlone(request) }
        renamed = []
        continue
      }
      for request in renamed { request.continuation.resume() }
      renamed = new.filter { request in
        guard let file = request.file else {
          request.continuation.resume()
          return false
        }
        do throws(StoreError) {
          try file.rename(to: request.target, mode: DataFolder.blobMode)
          return true
        } catch {
          request.fail(error)
          return false
        }
      }
    }
  }

  /// The new requests; the rounds end when there are none and no name has to be made durable.
  private func takeWaiting(after renamed: [Request]) -> [Request] {
    state.withLock { state in
      defer { state.waiting = [] }
      if state.waiting.isEmpty, renamed.isEmpty { state.isRunningRounds = false }
      return state.waiting
    }
  }

  private func commitAlone(_ request: Request, isRenamed: Bool = false) {
    do {
      if let file = request.file {
        try calls.fsync(file.file)
        if !isRenamed { try file.rename(to: request.target, mode: DataFolder.blobMode) }
      }
      try calls.fsyncFolder(request.target)
      request.continuation.resume()
    } catch { request.fail(error) }
  }
}
