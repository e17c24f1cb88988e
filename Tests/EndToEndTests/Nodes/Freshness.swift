import Foundation
import Synchronization
import Testing

/// Requests to one node, over and over on one connection, for what is about to change at another.
final class Freshness: Sendable {
  /// What a node answers until a change, and must not answer after it.
  struct Subject: Sendable {
    /// The head of the request, up to the fields that all have.
    let head: String
    /// The statuses that are right before the change only.
    let staleStatuses: Set<Int>
  }

  private struct Watched {
    let subject: Subject
    /// When the change was acknowledged.
    var changed: ContinuousClock.Instant?
    /// When the last request was sent that got an answer from before the change.
    var lastStale: ContinuousClock.Instant?
    /// When the last request was sent.
    var lastAsked: ContinuousClock.Instant?
    /// How long the slowest answer took since the change.
    var slowest = Duration.zero
  }

  /// What a node has answered after a change.
  struct Result {
    /// How long as before it.
    let stale: Duration
    /// How long the slowest answer took.
    let slowest: Duration
  }

  private let watched = Mutex((subjects: [Int: Watched](), isOver: false))

  /// Asks on a thread of its own until `end`.
  init(port: Int) {
    Thread.detachNewThread { [self] in
      var connection = try? RawConnection(port: port)
      while case let (subjects, isOver) = watched.withLock({ ($0.subjects, $0.isOver) }), !isOver {
        for (number, watched) in subjects {
          let start = ContinuousClock.now
          let isHead = watched.subject.head.hasPrefix("HEAD")
          let answer = try? connection?.exchange(watched.subject.head, isHead: isHead)
          if answer == nil { connection = try? RawConnection(port: port) }
          note(answer?.status ?? 0, of: number, at: start)
        }
        // Fifty times a second is enough.
        usleep(20_000)
      }
    }
  }

  func end() { watched.withLock { $0.isOver = true } }

  func watch(_ number: Int, _ subject: Subject) {
    watched.withLock { $0.subjects[number] = Watched(subject: subject) }
  }

  /// Whether it has been asked for and answered.
  func hasAsked(_ number: Int) -> Bool {
    watched.withLock { $0.subjects[number]?.lastStale != nil }
  }

  func noteChange(of number: Int) {
    watched.withLock { $0.subjects[number]?.changed = .now }
  }

  /// Whether it has been asked for later than that after its change.
  func hasAsked(_ number: Int, later time: Duration) -> Bool {
    watched.withLock { state in
      guard let watched = state.subjects[number], let changed = watched.changed,
        let last = watched.lastAsked
      else { return false }
      return last - changed > time
    }
  }

  /// Asks for it no more.
  func stop(_ number: Int) -> Result? {
    watched.withLock { state in
      guard let watched = state.subjects.removeValue(forKey: number), let changed = watched.changed,
        let last = watched.lastStale
      else { return nil }
      return Result(stale: last - changed, slowest: watched.slowest)
    }
  }

  private func note(_ status: Int, of number: Int, at start: ContinuousClock.Instant) {
    watched.withLock { state in
      guard var watched = state.subjects[number] else { return }
      watched.lastAsked = start
      if watched.changed != nil { watched.slowest = max(watched.slowest, .now - start) }
      if watched.subject.staleStatuses.contains(status) { watched.lastStale = start }
      state.subjects[number] = watched
    }
  }
}
