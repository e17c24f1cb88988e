import FoundationEssentials
import Push

/// Looks for work after every commit, at the time it named itself, and every few seconds besides:
/// what another process commits is found, too.
final class Watch: Sendable {
  private let bell = Bell()
  private let look: @Sendable () async -> Date?
  private static let patience: TimeInterval = 5

  /// A watch that is not running yet; `look` does what there is, and says when more comes due.
  init(_ look: @escaping @Sendable () async -> Date?) { self.look = look }

  /// Says that something was committed.
  func ring() { bell.ring() }

  /// Works until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      let next = await look()
      let latest = Date(timeIntervalSinceNow: Self.patience)
      await bell.wait(until: min(next ?? latest, latest), by: SystemClock())
    }
  }
}
