import Primitives
import Synchronization

/// Collects changes in a folder until the monitor has time to examine them.
package final class PendingChanges: Sendable {
  /// A name in a rich type's folder.
  package struct Location: Hashable, Sendable {
    package let richType: String
    package let entry: FolderEntry

    /// Names an entry of a rich type's folder.
    package init(richType: String, entry: FolderEntry) {
      (self.richType, self.entry) = (richType, entry)
    }
  }

  /// What the kernel has reported of a name.
  package struct Report: Hashable, Sendable {
    /// Whether its writer is known to have closed it.
    package var isClosed = false
    /// Whether the file came under its name by a rename, which was the last that happened to its bytes.
    package var isRenamed = false
    /// The place of the report among all; nil if nothing was reported.
    package var order: Int?

    /// Creates a report.
    package init(isClosed: Bool = false, isRenamed: Bool = false, order: Int? = nil) {
      (self.isClosed, self.isRenamed, self.order) = (isClosed, isRenamed, order)
    }

    /// Nothing was reported.
    package static let none = Report()
    /// Its writer has closed it.
    package static let closed = Report(isClosed: true)
    /// It was renamed.
    package static let renamed = Report(isClosed: true, isRenamed: true)
  }

  /// What is to be examined.
  struct Batch {
    var names: [Location: Report] = [:]
    var includesEverything = false
  }

  private struct State {
    var batch = Batch()
    /// Names to examine later, with the time: new ones whose writers have not closed them (links and pipes
    /// never are), and names to retry.
    var delayed: [Location: ContinuousClock.Instant] = [:]
    var hasTimer = false
    /// Reports so far.
    var reports = 0
  }

  /// Sent when there is something to examine.
  let signal = WakeSignal()
  private let state = Mutex(State())
  /// Most new files are complete after this time; links and pipes, which are never closed, are examined then.
  private static let completionTime = Duration.milliseconds(500)
  /// How often incomplete files, and files that do not fit on the disk, are retried.
  package static let retryInterval = Duration.seconds(2)

  /// Adds what the kernel reported, in order.
  func add(_ events: [FolderWatch.Event]) {
    let mustStartTimer = state.withLock { state in
      for event in events {
        switch event {
        case .unknown, .overflow: state.batch.includesEverything = true
        case .complete(let location, let change):
          state.reports += 1
          var report = Report(isClosed: true, order: state.reports)
          report.isRenamed =
            switch change {
            case .renamed: true
            case .attributes: state.batch.names[location]?.isRenamed ?? false
            case .other: false
            }
          state.batch.names[location] = report
          state.delayed[location] = nil
        case .created(let location): state.delayed[location] = .now + Self.completionTime
        }
      }
      return !state.delayed.isEmpty && Self.claimTimer(&state)
    }
    if mustStartTimer { startTimer() }
    signal.send()
  }

  /// Adds everything.
  func addEverything() { add([.unknown]) }

  /// Adds a name again after a time.
  func retry(_ location: Location, after delay: Duration) {
    let mustStartTimer = state.withLock { state in
      state.delayed[location] = .now + delay
      return Self.claimTimer(&state)
    }
    if mustStartTimer { startTimer() }
  }

  /// Removes and returns what is to be examined.
  func take() -> Batch {
    state.withLock { state in
      defer { state.batch = Batch() }
      return state.batch
    }
  }

  private static func claimTimer(_ state: inout State) -> Bool {
    defer { state.hasTimer = true }
    return !state.hasTimer
  }

  private func startTimer() {
    Task.detached(priority: .utility) { [weak self] in
      try? await Task.sleep(for: Self.completionTime)
      guard let self else { return }
      let isMore = state.withLock { state in
        for (location, due) in state.delayed where due <= .now {
          state.delayed[location] = nil
          state.batch.names[location] = state.batch.names[location] ?? Report.none
        }
        state.hasTimer = !state.delayed.isEmpty
        return state.hasTimer
      }
      signal.send()
      if isMore { startTimer() }
    }
  }
}
