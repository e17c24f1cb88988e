import Primitives

/// Lets one node at a time render what has one key, if nodes share a database and an object store.
///
/// Being wrong only costs work: a node that waits for too long, or cannot reach the database, renders.
package final class RenderTurns: Sendable {
  // With the time that a render may wait in its queue, less than the deadline of a request.
  private static let longestWait = Duration.seconds(10)
  private static let firstPause = Duration.milliseconds(20)
  private static let longestPause = Duration.milliseconds(300)

  private let locks: PostgresLocks
  private let clock: any SteadyClock

  init(locks: PostgresLocks, clock: any SteadyClock = ContinuousClock()) {
    (self.locks, self.clock) = (locks, clock)
  }

  /// Waits until no other node renders what has this key; what it has rendered is in the object store then.
  package func begin(_ key: Digest) async {
    let end = clock.now + Self.longestWait
    var pause = Self.firstPause
    // Only the database is asked again and again: requests to the object store are slow.
    while (try? await locks.take(Self.name(key))) == false, clock.now < end {
      try? await clock.sleep(for: pause)
      pause = min(pause * 2, Self.longestPause)
    }
  }

  /// Lets others render what has this key; does nothing if it was not this node's turn.
  package func end(_ key: Digest) { locks.release(Self.name(key)) }

  private static func name(_ key: Digest) -> String { " render " + key.hex }
}
