import Glibc
import Synchronization

/// Space on the disk of the data folder that is kept for changes that cannot wait until there is space: receipts,
/// withdrawals, ends of sessions and registrations, what became of pushes, and removals.
///
/// It is a file, since a limit of what the server itself writes would not hold off other programs. It is given up when
/// the database could not be written, and made again when there is space for it. From the one to the other, and while
/// little is free, whatever takes space is refused with ``requireSpace()``.
package final class DiskReserve: Sendable {
  private struct State {
    var isWhole: Bool
    var isLow = false
  }

  /// The size of the file in bytes, on a disk that has eight times as much: it takes more than a hundred thousand
  /// receipts, and the write-ahead log that is needed to commit them.
  package static let size = 32 << 20
  /// Less free space than that is kept free of content.
  private static let low = 16 << 20

  private let folder: DataFolder
  /// Nil if nothing is kept.
  private let file: StoreFile?
  private let size: Int
  /// Less is no space.
  let low: Int
  private let state: Mutex<State>
  private let isOpen: Atomic<Bool>

  /// A reserve of at most `size` bytes, of which as much is made as there is space for.
  init(in folder: DataFolder, size: Int) {
    let space = DiskSpace(of: folder.path)
    let total = space?.total ?? .max
    self.folder = folder
    self.size = min(size, total / 8)
    low = min(Self.low, total / 16)
    file = size == 0 ? nil : try? StoreFile(folder.reserve, O_RDWR | O_CREAT | O_NOFOLLOW)
    let isWhole = file.map { [size = self.size] in Self.holds(size, $0) } ?? true
    state = Mutex(State(isWhole: isWhole))
    isOpen = Atomic(isWhole)
    // A server that starts on a full disk writes some small files first.
    if let free = space?.free, free < low / 16 { _ = release() }
    update()
  }

  /// Whether there is space for what can wait.
  package var hasSpace: Bool { isOpen.load(ordering: .relaxed) }

  /// Whether there is space that the database can be given.
  var isWhole: Bool { state.withLock { $0.isWhole && file != nil } }

  /// Throws `full` if there is no space for what can wait.
  package func requireSpace() throws(StoreError) {
    if !hasSpace { throw Self.noSpace }
  }

  /// For what is refused although it could perhaps be written.
  static let noSpace = StoreError(
    .full, "the disk of the data folder is full: nothing new is taken until there is space",
    retryAfter: 30)

  /// Gives the space to the database, which could not be written; false if it has it already.
  func release() -> Bool {
    state.withLock { state in
      guard let file, state.isWhole else { return false }
      state.isWhole = false
      isOpen.store(false, ordering: .relaxed)
      return (try? file.truncate(to: 0)) != nil
    }
  }

  /// Looks at the disk, and keeps the space again if there is space for it; may wait for the disk.
  package func update() {
    guard let space = DiskSpace(of: folder.path) else { return }
    state.withLock { state in
      // Twice as much as ends it, so that it does not begin again at once.
      if !state.isWhole, let file, space.free >= size + 2 * low { state.isWhole = keep(file) }
      if space.free < low {
        state.isLow = true
      } else if space.free >= 2 * low {
        state.isLow = false
      }
      isOpen.store(state.isWhole && !state.isLow, ordering: .relaxed)
    }
  }

  private func keep(_ file: StoreFile) -> Bool {
    if posix_fallocate(file.number, 0, size) == 0 { return true }
    // A part of it may have been kept.
    try? file.truncate(to: 0)
    return false
  }

  /// Whether a file has so many bytes on the disk, and no more.
  private static func holds(_ size: Int, _ file: StoreFile) -> Bool {
    guard let status = try? file.status() else { return false }
    if Int(status.st_size) == size, Int(status.st_blocks) * 512 >= size { return true }
    if status.st_size > 0 { try? file.truncate(to: 0) }
    return false
  }
}
