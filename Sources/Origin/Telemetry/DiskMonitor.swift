import Dispatch
import Glibc
import Media
import Store
import Synchronization

/// Looks at the disks that the server writes to, makes space for the database, and says which of them are full.
final class DiskMonitor: Sendable {
  /// A file system that the server writes to.
  struct Disk: Sendable {
    /// What it has, such as `data` and `assets`.
    fileprivate(set) var folders: [String]
    /// The path of the first of them.
    let path: String

    /// The first of its folders, for the metrics.
    var label: String { folders[0] }

    /// The first of its folders, for sentences.
    fileprivate var text: String {
      switch label {
      case "data": "the data folder"
      case "assets": "the drop folder"
      default: "the folder \(label)"
      }
    }
  }

  private struct State {
    var space: [String: DiskSpace] = [:]
    /// Disks that a thread is looking at: it may wait for a file system that does not respond.
    var isLooking: Set<String> = []
  }

  private let store: Store
  private let retention: Retention
  private let counts: RenditionCounts
  private let conditions: Conditions
  /// That of the data folder is the first.
  private let disks: [Disk]
  private let state: Mutex<State>
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
    let folders =
      [("data", configuration.data), ("assets", configuration.assets)] + store.contentFolders
    var (disks, indexes): ([Disk], [dev_t: Int]) = ([], [:])
    for (name, path) in folders {
      guard let device = DiskSpace.device(of: path) else { continue }
      if let index = indexes[device] {
        disks[index].folders.append(name)
      } else {
        indexes[device] = disks.count
        disks.append(Disk(folders: [name], path: path))
      }
    }
    self.disks = disks
    let spaces = disks.compactMap { disk in DiskSpace(of: disk.path).map { (disk.path, $0) } }
    state = Mutex(State(space: Dictionary(uniqueKeysWithValues: spaces)))
  }

  /// The disks with their space, as it was last seen.
  var spaces: [(disk: Disk, space: DiskSpace)] {
    let space = state.withLock(\.space)
    return disks.compactMap { disk in space[disk.path].map { (disk, $0) } }
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
    let removed = await store.makeSpace(retention).count
    if removed > 0 { counts.count(.evicted, removed) }
    for disk in disks.dropFirst() { look(at: disk) }
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        if let first = disks.first { record(first) }
        store.reserve.update()
        continuation.resume()
      }
    }
    tell()
  }

  private func look(at disk: Disk) {
    guard state.withLock({ $0.isLooking.insert(disk.path).inserted }) else { return }
    queue.async { [self] in
      record(disk)
      state.withLock { _ = $0.isLooking.remove(disk.path) }
    }
  }

  private func record(_ disk: Disk) {
    let space = DiskSpace(of: disk.path)
    state.withLock { $0.space[disk.path] = space }
  }

  private func tell() {
    var (full, low): ([Finding], [Finding]) = ([], [])
    // What ends needs more than what does not begin, or it would begin again at once.
    let (wasFull, wasLow) = (conditions.has(.diskFull), conditions.has(.diskLow))
    for (disk, space) in spaces {
      let text = "the disk of \(disk.text) \(disk.path)"
      let isFirst = disk.path == disks.first?.path
      if isFirst, !store.reserve.hasSpace {
        full.append(
          Finding(
            disk.path,
            "\(text) is full (\(Self.size(space.free)) free): "
              + (store.isDatabaseLocal
                ? "new notifications and files are refused, while receipts, withdrawals and what else is small are "
                  + "stored in the space kept for them"
                : "files are refused")
              + "; make space: nothing has to be restarted"))
      } else if !isFirst, disk.label != "renditions",
        space.free < min(Self.nothing, space.total / 16) * (wasFull ? 2 : 1)
      {
        full.append(
          Finding(
            disk.path,
            "\(text) is full (\(Self.size(space.free)) free): files are refused until there is space"
          ))
      } else if space.free < min(Self.little, space.total / 20) / 10 * (wasLow ? 11 : 10) {
        low.append(
          Finding(
            disk.path, "\(text) will be full soon (\(Self.size(space.free)) free): make space"))
      }
    }
    set(.diskFull, full)
    // A disk that has become full is not in order.
    if full.isEmpty || !low.isEmpty { set(.diskLow, low) }
  }

  private struct Finding {
    let path, sentence: String

    init(_ path: String, _ sentence: String) { (self.path, self.sentence) = (path, sentence) }
  }

  private func set(_ code: Condition.Code, _ found: [Finding]) {
    conditions.set(
      code, found.isEmpty ? nil : found.map(\.sentence).joined(separator: "; "),
      name: found.map(\.path).joined(separator: ", "))
  }

  private static func size(_ bytes: Int) -> String { "\(bytes / 1_000_000) MB" }
}
