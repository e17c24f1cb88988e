import Dispatch
import Synchronization

/// Receipts that nobody waits for and whose commit failed because the database was away, busy or full; they are
/// written when it is back.
final class UnwrittenReceipts: Sendable {
  private struct State {
    var kept: [(count: Int, write: @Sendable () -> Void)] = []
    var count = 0
    var dropped = 0
  }

  /// The most receipts that are kept, in some megabytes.
  private let limit: Int
  private let pause: DispatchTimeInterval
  private let queue = DispatchQueue(label: "store.receipts")
  private let state = Mutex(State())

  init(limit: Int = 100_000, pause: DispatchTimeInterval = .seconds(1)) {
    (self.limit, self.pause) = (limit, pause)
  }

  /// How many were lost: they were too many, or could not be written for another reason.
  var dropped: Int { state.withLock { $0.dropped } }

  /// Keeps as many receipts after a failure, and calls `write` a moment later, which tries again.
  func keep(_ count: Int, after error: any Error, write: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      guard Self.mayPass(error), state.count + count <= limit else {
        state.dropped += count
        return false
      }
      state.count += count
      state.kept.append((count, write))
      return state.kept.count == 1
    }
    if isFirst { queue.asyncAfter(deadline: .now() + pause) { [weak self] in self?.writeKept() } }
  }

  private func writeKept() {
    let kept = state.withLock { state in
      defer { (state.kept, state.count) = ([], 0) }
      return state.kept
    }
    for (_, write) in kept { write() }
  }

  private static func mayPass(_ error: any Error) -> Bool {
    switch (error as? StoreError)?.code {
    case .unavailable, .busy, .full: true
    default: false
    }
  }
}
