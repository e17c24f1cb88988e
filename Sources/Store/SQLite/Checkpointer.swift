import Dispatch
import Synchronization

/// Copies the write-ahead log into the database on a thread of its own.
///
/// By default SQLite does so in the commit that makes the log longer than 4 MB, which then takes many times as long
/// as others. Here commits go on meanwhile. When all is copied, the next commit begins the log again.
final class Checkpointer: Sendable {
  private let connection: Mutex<SQLiteConnection>
  private let thread = DispatchQueue(label: "store.checkpoints")
  private let state = Mutex(State())

  private struct State {
    /// Pages written since the last copy began.
    var pages = 0
    var isScheduled = false
  }

  /// The pages after which the log is copied: 4 MB.
  private static let interval = 1000

  /// Opens a connection to the database at `path`.
  init(_ path: String) throws(StoreError) {
    connection = Mutex(try SQLiteConnection.open(path, for: .checkpointing))
  }

  /// Counts pages that a commit wrote to the log, and has it copied if they are many.
  func add(_ pages: Int) {
    let mustSchedule = state.withLock { state in
      state.pages += pages
      guard state.pages >= Self.interval, !state.isScheduled else { return false }
      state.isScheduled = true
      return true
    }
    if mustSchedule { thread.async { self.copy() } }
  }

  private func copy() {
    state.withLock { state in (state.pages, state.isScheduled) = (0, false) }
    // Waits for nobody. What fails now is tried again after later commits, at last by the writer.
    connection.withLock { try? $0.script("PRAGMA wal_checkpoint(PASSIVE)") }
  }
}
