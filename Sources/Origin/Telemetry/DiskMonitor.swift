import Dispatch
import Glibc
import Media
import Store
import Synchronization

/// Looks at the disks that the server writes to, makes room for the database, and says which of them are full.
final class DiskMonitor: Sendable {
  /// A folder on a disk of its own.
  struct Folder: Sendable {
    /// For the metrics.
    let label: String
    /// For sentences.
    let name: String
    let path: String
  }

  private struct State {
    var space: [String: DiskSpace] = [:]
    /// Folders that a thread is looking at: it may wait for a file system that does not respond.
    var isLooking: Set<String> = []
  }

  private let store: Store
  private let retention: Retention
  private let counts: RenditionCounts
  private let conditions: Conditions
  /// The data folder is the first.
  private let folders: [Folder]
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "disks", attributes: .concurrent)

  private static let interval = Duration.seconds(1)
  /// Less free space is little, but on a small disk only less than a twentieth of it.
  private static let little = 2_000_000_000
  /// Less free space in the drop folder, or for blobs on another disk, is too little for a file (`AssetIntake`).
  private static let nothing = 16 << 20

  init(
    _ configuration: OriginConfiguration, store: Store, counts: RenditionCounts,
    conditions: Conditions
  ) {
    (self.store, self.counts, self.conditions) = (store, counts, conditions)
    retention = configuration.retention
    let data = configuration.data
    let all = [
      Folder(label: "data", name: "data folder", path: data),
      Folder(label: "blobs", name: "folder blobs", path: data + "/blobs"),
      Folder(label: "assets", name: "drop folder", path: configuration.assets),
    ]
    var devices: Set<dev_t> = []
    folders = all.filter { folder in
      DiskSpace.device(of: folder.path).map { devices.insert($0).inserted } ?? false
    }
  }

  /// The free space of each disk in bytes, as it was last seen.
  var free: [(label: String, bytes: Int)] {
    let space = state.withLock(\.space)
    return folders.compactMap { folder in space[folder.label].map { (folder.label, $0.free) } }
  }

  /// Looks from time to time, until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      await update()
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Looks at the disks; one that does not respond at once is recorded when it does.
  func update() async {
    // What can be made again goes first.
    let removed = await store.makeRoom(retention).count
    if removed > 0 { counts.count(.evicted, removed) }
    for folder in folders.dropFirst() { look(at: folder) }
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        if let first = folders.first { record(first) }
        store.reserve.update()
        continuation.resume()
      }
    }
    tell()
  }

  private func look(at folder: Folder) {
    guard state.withLock({ $0.isLooking.insert(folder.label).inserted }) else { return }
    queue.async { [self] in
      record(folder)
      state.withLock { _ = $0.isLooking.remove(folder.label) }
    }
  }

  private func record(_ folder: Folder) {
    let space = DiskSpace(of: folder.path)
    state.withLock { $0.space[folder.label] = space }
  }

  private func tell() {
    let space = state.withLock(\.space)
    var (full, low): ([String], [String]) = ([], [])
    // What ends needs more than what does not begin, or it would begin again at once.
    let (wasFull, wasLow) = (conditions.has(.diskFull), conditions.has(.diskLow))
    for (index, folder) in folders.enumerated() {
      guard let space = space[folder.label] else { continue }
      let text = "the disk of the \(folder.name) \(folder.path)"
      if index == 0, !store.reserve.hasRoom {
        full.append(
          "\(text) is full (\(Self.size(space.free)) free): "
            + (store.isDatabaseLocal
              ? "new notifications and files are refused, while receipts, withdrawals and what else is small are "
                + "stored in the space kept for them"
              : "files are refused")
            + "; make room: nothing has to be restarted")
      } else if index > 0, space.free < min(Self.nothing, space.total / 16) * (wasFull ? 2 : 1) {
        full.append(
          "\(text) is full (\(Self.size(space.free)) free): files are refused until there is room")
      } else if space.free < min(Self.little, space.total / 20) / 10 * (wasLow ? 11 : 10) {
        low.append("\(text) will be full soon (\(Self.size(space.free)) free): make room")
      }
    }
    conditions.set(.diskFull, full.isEmpty ? nil : full.joined(separator: "; "))
    // A disk that has become full is not in order.
    if full.isEmpty || !low.isEmpty {
      conditions.set(.diskLow, low.isEmpty ? nil : low.joined(separator: "; "))
    }
  }

  private static func size(_ bytes: Int) -> String { "\(bytes / 1_000_000) MB" }
}
