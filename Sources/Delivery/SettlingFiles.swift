import FoundationEssentials
import Intake
import Synchronization

/// Finds out when dropped files are complete: some programs close a file before they have written all of it.
///
/// A file is published when it was not changed for a while. The time grows with how often it was changed; what is
/// done within a quarter of ``settle`` counts as one change.
final class SettlingFiles: Sendable {
  /// A file as it is now.
  struct Observation {
    let path: String
    /// Identifies its state.
    let stamp: String
    /// When it was changed last.
    let changed: FileTime?
    /// When its sidecar was changed last, if it has one of its own.
    let sidecarChanged: FileTime?
    let report: PendingChanges.Report
    /// Whether the report is about the sidecar.
    let isOfSidecar: Bool
  }

  private struct State {
    var stamp: String
    /// When it was first seen like this.
    var since: Date
    var changes = 0
    /// When a change was counted last.
    var counted: Date
    /// Whether it is known to be complete: it came by a rename.
    var isWhole = false
    /// The last reports of the file and of its sidecar.
    var order: Int?
    var sidecarOrder: Int?
  }

  private struct States {
    var all: [String: State] = [:]
    var nextPruning = 1000
  }

  /// How long a file is unchanged before it is published, if it was not changed before; in seconds.
  private let settle: Double
  private let now: @Sendable () -> Date
  private let states = Mutex(States())
  /// The longest time that a file has to be unchanged, in seconds.
  static let longest = 60.0
  /// For so long a file is remembered, in seconds.
  private static let memory = 600.0

  init(settle: Double, now: @escaping @Sendable () -> Date) {
    (self.settle, self.now) = (settle, now)
  }

  /// How long to wait before the file is published; nil for not any more.
  func delay(_ file: Observation) -> Duration? {
    let time = now()
    guard settle > 0 else { return nil }
    return states.withLock { states in
      // What was there before it was first looked at, such as at a restart, need not wait again.
      let first = file.changed.map { min($0.date, time) } ?? time
      var state =
        states.all[file.path] ?? State(stamp: file.stamp, since: first, counted: time)
      if state.stamp != file.stamp {
        if time.timeIntervalSince(state.counted) >= settle / 4 {
          (state.changes, state.counted) = (state.changes + 1, time)
        }
        (state.stamp, state.since, state.isWhole) = (file.stamp, time, false)
      }
      // The clock was set back.
      state.since = min(state.since, time)
      if file.isOfSidecar {
        state.sidecarOrder = file.report.order ?? state.sidecarOrder
      } else {
        state.order = file.report.order ?? state.order
        state.isWhole = state.isWhole || file.report.isRenamed
      }
      defer { Self.keep(state, of: file.path, in: &states, at: time) }
      if state.isWhole || Self.hasLaterSidecar(file, state) { return nil }
      let quiet = min(Self.longest, settle * Double(1 + state.changes))
      let elapsed = time.timeIntervalSince(state.since)
      return elapsed >= quiet ? nil : .seconds(quiet - elapsed)
    }
  }

  /// When a file was first seen in its present state; nil if it is not known.
  func firstSeen(_ path: String, _ stamp: String) -> Date? {
    states.withLock { $0.all[path] }.flatMap { $0.stamp == stamp ? $0.since : nil }
  }

  /// Whether the sidecar came after the file: then its author had the file.
  private static func hasLaterSidecar(_ file: Observation, _ state: State) -> Bool {
    guard let changed = file.changed, let sidecar = file.sidecarChanged else { return false }
    if sidecar != changed { return sidecar > changed }
    // The times of files have steps of some milliseconds.
    guard let order = state.order, let sidecarOrder = state.sidecarOrder else { return false }
    return sidecarOrder > order
  }

  private static func keep(
    _ state: State, of path: String, in states: inout States, at time: Date
  ) {
    states.all[path] = state
    guard states.all.count > states.nextPruning else { return }
    states.all = states.all.filter { time.timeIntervalSince($0.value.since) < memory }
    states.nextPruning = max(1000, 2 * states.all.count)
  }
}
