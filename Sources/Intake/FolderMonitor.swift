import CLinux
import Glibc
package import Primitives
import Synchronization

/// Processes the names of a drop folder.
package protocol FolderProcessor: Sendable {
  /// Processes a name again after a time, because it is incomplete or a service is unavailable.
  typealias Retry = @Sendable (PendingChanges.Location, _ delay: Duration) -> Void

  var folder: DropFolder { get }
  /// The folders in it that are watched, by their paths relative to it.
  var watchedFolders: [String] { get }
  /// Processes names that may have changed.
  func process(
    _ names: [PendingChanges.Location: PendingChanges.Report], retry: @escaping Retry) async
  /// Processes all names; returns why the folder could not be read, or nil.
  func processAll(retry: @escaping Retry) async -> String?
}

/// Monitors a drop folder while the server runs: processes all of it once, then what changes.
package final class FolderMonitor: Sendable {
  private let processor: any FolderProcessor
  private let log: Log
  private let changes = PendingChanges()
  private let tasks = Mutex<[Task<Void, Never>]>([])
  private let watch = Mutex<FolderWatch?>(nil)
  private let rescan: Mutex<RescanInterval>
  /// The folders that were scanned last.
  private let scanned = Mutex<[FolderIdentity]>([])

  /// Creates a monitor that has not started.
  package init(_ processor: any FolderProcessor, log: Log) {
    (self.processor, self.log) = (processor, log)
    rescan = Mutex(RescanInterval(isShare: RescanInterval.isShare(processor.folder.path)))
  }

  /// Starts.
  package func start() {
    watch.withLock {
      $0 = FolderWatch(processor.folder.path) { [changes, processor, log] events in
        if events.contains(.overflow) {
          log(
            .notice, "assets",
            "\(processor.folder.path): too many changes for inotify; scanning the whole folder")
        }
        changes.add(events)
      }
    }
    let processing = Task.detached(executorPreference: BlockingExecutor.intake, priority: .utility)
    { [self] in
      for richType in (try? processor.folder.richTypes().types) ?? [] {
        processor.folder.removeUnfinishedUploads(richType)
      }
      while !Task.isCancelled {
        await changes.signal.wait()
        if Task.isCancelled { return }
        let batch = changes.take()
        await processor.process(batch.names, retry: retry)
        if batch.includesEverything { await processAll() }
      }
    }
    let rescanning = Task.detached(executorPreference: BlockingExecutor.intake, priority: .utility)
    { [self] in
      while !Task.isCancelled {
        changes.addEverything()
        let start = ContinuousClock.now
        // In steps: the scan that begins now may show that the next one must come sooner.
        repeat {
          try? await Task.sleep(for: .seconds(1))
        } while !Task.isCancelled && ContinuousClock.now - start < rescan.withLock { $0.interval }
          && isInPlace
      }
    }
    tasks.withLock { $0 = [processing, rescanning] }
  }

  /// Stops; files that are being checked are completed.
  package func stop() {
    watch.withLock { $0.take() }?.stop()
    for task in tasks.withLock({ $0 }) { task.cancel() }
  }

  private var retry: FolderProcessor.Retry { { [changes] in changes.retry($0, after: $1) } }

  /// Whether the folders are those that were scanned last: the kernel doesn't report a mount over one of them.
  private var isInPlace: Bool {
    scanned.withLock { $0 }.allSatisfy { $0 == FolderIdentity($0.path) }
  }

  private func processAll() async {
    let start = ContinuousClock.now
    let root = processor.folder.path
    let folders = [root] + processor.watchedFolders.map { root + "/" + $0 }
    scanned.withLock { $0 = folders.map(FolderIdentity.init) }
    rescan.withLock { $0.isShare = folders.contains(where: RescanInterval.isShare) }
    // Watched before it is read: a change in between is processed twice rather than missed.
    let isWatched = watch.withLock { $0?.watch { processor.watchedFolders } ?? false }
    let problem = await processor.processAll(retry: retry)
    let before = rescan.withLock { rescan in
      // A folder that cannot be read cannot be watched either; that is not a limit of the kernel.
      defer {
        rescan.update(
          ContinuousClock.now - start, isWatched: isWatched || problem != nil, problem: problem)
      }
      return rescan
    }
    if let problem, problem != before.problem { log(.warning, "assets", problem) }
    if !isWatched, before.isWatched, problem == nil {
      log(
        .notice, "assets",
        "\(processor.folder.path) cannot be watched; scanning it instead, at most once a second")
    }
  }
}

/// The folder that is at a path now, which another one can replace or be mounted over.
private struct FolderIdentity: Equatable, Sendable {
  let path: String
  private let device: dev_t
  private let inode: ino_t

  /// Finds the folder; also if there is none.
  init(_ path: String) {
    var status = Glibc.stat()
    _ = stat(path, &status)
    (self.path, device, inode) = (path, status.st_dev, status.st_ino)
  }
}

/// How often the whole folder is scanned although no change was reported.
///
/// Where the kernel reports every change, scans are only a safeguard; on a network share they are the
/// only way to find changes. They take at most 5% of one processor.
struct RescanInterval {
  var isShare: Bool
  private(set) var isWatched = true
  /// Why the folder could not be read the last time.
  private(set) var problem: String?
  private var cost = Duration.zero

  init(isShare: Bool) { self.isShare = isShare }

  /// Records what the last scan cost, and whether the folder is watched.
  mutating func update(_ cost: Duration, isWatched: Bool, problem: String?) {
    (self.cost, self.isWatched, self.problem) = (cost, isWatched, problem)
  }

  /// The time until the next scan.
  var interval: Duration {
    if isShare || !isWatched || problem != nil { return max(.seconds(1), cost * 20) }
    return max(.seconds(30), min(cost * 1000, .seconds(3600)))
  }

  /// Whether a folder is on a file system that other machines change without notification (statfs(2)).
  static func isShare(_ path: String) -> Bool {
    var status = statfs()
    guard statfs(path, &status) == 0 else { return false }
    // NFS, SMB1, CIFS, SMB2, FUSE, 9p, Ceph, overlayfs (linux/magic.h).
    let types: [UInt32] = [
      0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400, 0x794C_7630,
    ]
    return types.contains(UInt32(truncatingIfNeeded: status.f_type))
  }
}
