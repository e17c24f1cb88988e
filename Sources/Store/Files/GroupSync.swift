import Dispatch
import Glibc
import Synchronization

/// Gives new files their names for good: a few by an `fsync` each, many at one stroke by `syncfs`.
///
/// On Linux syncfs(2) waits until all that was written to the file system before has reached the disk: "the same
/// guarantees as fsync called on every file" (sync(2)). So a round makes durable, with one call, the
/// bytes of the files that came since the last and the names that the last one gave. No file gets its
/// name before its bytes are durable, and nobody hears of it before its name is.
final class GroupSync: Sendable {
  private struct Arrival {
    /// Nil when it has its name already.
    let file: WrittenFile?
    let target: String
    let done: CheckedContinuation<Void, any Error>

    /// Tells that it came to nothing, when nothing is left of it.
    func fail(_ error: any Error) {
      file?.discard()
      done.resume(throwing: error)
    }
  }

  private struct Line {
    var waiting: [Arrival] = []
    /// How many are being made durable on their own.
    var alone = 0
    var isRound = false
  }

  private let line = Mutex(Line())
  /// Held open for ever: a write that fails is told to those who have the file system open by then.
  private let fileSystem: Descriptor
  private let path: String
  private let disk = DispatchQueue(label: "store.sync", attributes: .concurrent)

  /// As many at once are no reason for a round, which waits for all that others write to the disk.
  private static let few = 2
  /// Before each round, in microseconds, so that more come together.
  private static let pause: UInt32 = 8000

  /// Prepares for files on the file system that the folder `path` is on.
  init(_ path: String) throws(StoreError) {
    self.path = path
    fileSystem = try Descriptor(path, O_RDONLY | O_DIRECTORY)
  }

  /// Renames a file and returns once its bytes and its name would survive a power cut.
  ///
  /// Without a file, for a name that another may have given a moment ago.
  func name(_ file: WrittenFile?, _ target: String) async throws {
    try await withCheckedThrowingContinuation { done in
      let arrival = Arrival(file: file, target: target, done: done)
      let (isAlone, isFirst) = line.withLock { line in
        if !line.isRound, line.alone < Self.few {
          line.alone += 1
          return (true, false)
        }
        line.waiting.append(arrival)
        defer { line.isRound = true }
        return (false, !line.isRound)
      }
      if isAlone {
        disk.async {
          self.finish(arrival)
          self.line.withLock { $0.alone -= 1 }
        }
      }
      if isFirst { disk.async { self.goRound() } }
    }
  }

  private func goRound() {
    var named: [Arrival] = []
    usleep(Self.pause)
    while case let fresh = arrivals(after: named), !fresh.isEmpty || !named.isEmpty {
      defer { usleep(Self.pause) }
      do throws(StoreError) {
        try fileSystem.synchronizeFileSystem(path: path)
      } catch {
        // Whose bytes were lost, each file tells itself.
        for arrival in named { finish(arrival, isNamed: true) }
        for arrival in fresh { finish(arrival) }
        named = []
        continue
      }
      for arrival in named { arrival.done.resume() }
      named = fresh.filter { arrival in
        guard let file = arrival.file else {
          arrival.done.resume()
          return false
        }
        do throws(StoreError) {
          try file.rename(to: arrival.target)
          return true
        } catch {
          arrival.fail(error)
          return false
        }
      }
    }
  }

  /// Who has come; the rounds end when there is nobody, and none waits for a name.
  private func arrivals(after named: [Arrival]) -> [Arrival] {
    line.withLock { line in
      defer { line.waiting = [] }
      if line.waiting.isEmpty, named.isEmpty { line.isRound = false }
      return line.waiting
    }
  }

  /// Makes one file durable by itself.
  private func finish(_ arrival: Arrival, isNamed: Bool = false) {
    do {
      try arrival.file?.synchronize()
      if !isNamed { try arrival.file?.rename(to: arrival.target) }
      try Folder.synchronizeParent(of: arrival.target)
      arrival.done.resume()
    } catch { arrival.fail(error) }
  }
}
