import Dispatch
import FoundationEssentials
import Synchronization

/// A receipt to be written, if it is the user's or the device's first in its state.
struct NewReceipt: Sendable {
  let state: RecordedState
  let id: Int
  let user: UserID
  var device: String?
  let time: Date
}

/// Receipts for which nobody waits, until a commit has written them.
///
/// A burst of them shares a few commits. What could not be written because the database was away, busy or full is
/// written again a moment later.
final class PendingReceipts: Sendable {
  /// Receipts that one commit takes; the same ones if it is repeated.
  final class Batch: Sendable {
    fileprivate let taken = Mutex<[NewReceipt]?>(nil)
  }

  /// When a commit is needed.
  enum Urgency: Comparable {
    /// It may wait for other receipts.
    case soon
    case now
  }

  private struct Queue {
    var receipts: [NewReceipt] = []
    var taken = 0
    /// The commit that was asked for and has not taken any yet.
    var asked: Urgency?
  }

  private struct Failed {
    var kept = 0
    var dropped = 0
  }

  private let queue = Mutex(Queue())
  private let failed = Mutex(Failed())
  /// The most receipts that are kept after failures, in some megabytes.
  private let limit: Int
  private let pause: DispatchTimeInterval
  private let timer = DispatchQueue(label: "store.receipts")
  /// The most in one commit, so that other changes need not wait for long.
  private static let batchLimit = 2000

  init(limit: Int = 100_000, pause: DispatchTimeInterval = .seconds(1)) {
    (self.limit, self.pause) = (limit, pause)
  }

  /// How many were lost: they were too many, or could not be written for another reason.
  var dropped: Int { failed.withLock { $0.dropped } }

  /// Adds receipts; if the result is not nil, the caller must ask for a commit that takes them.
  func add(_ receipts: some Sequence<NewReceipt>, _ urgency: Urgency) -> Urgency? {
    queue.withLock { queue in
      queue.receipts += receipts
      let isFull = queue.receipts.count - queue.taken >= Self.batchLimit
      let needed = isFull ? .now : urgency
      if let asked = queue.asked, asked >= needed { return nil }
      queue.asked = needed
      return needed
    }
  }

  /// Takes the oldest for one commit; calls `askForCommit` if others are left.
  func take(for batch: Batch, askForCommit: (Urgency) -> Void) -> [NewReceipt] {
    let (receipts, next) = batch.taken.withLock { taken -> ([NewReceipt], Urgency?) in
      if let taken { return (taken, nil) }
      return queue.withLock { queue in
        let receipts = Array(queue.receipts[queue.taken...].prefix(Self.batchLimit))
        let left = queue.receipts.count - queue.taken - receipts.count
        queue.taken += receipts.count
        queue.asked = left >= Self.batchLimit ? .now : .soon
        if left == 0 { queue = Queue() }
        taken = receipts
        return (receipts, queue.asked)
      }
    }
    if let next { askForCommit(next) }
    return receipts
  }

  /// Keeps as many receipts after a failure, and calls `write` a moment later, which tries again.
  func keep(_ count: Int, after error: any Error, write: @escaping @Sendable () -> Void) {
    let isKept = failed.withLock { failed in
      guard Self.mayPass(error), failed.kept + count <= limit else {
        failed.dropped += count
        return false
      }
      failed.kept += count
      return true
    }
    guard isKept else { return }
    timer.asyncAfter(deadline: .now() + pause) { [weak self] in
      self?.failed.withLock { $0.kept -= count }
      write()
    }
  }

  private static func mayPass(_ error: any Error) -> Bool {
    switch (error as? StoreError)?.code {
    case .unavailable, .busy, .full: true
    default: false
    }
  }
}
