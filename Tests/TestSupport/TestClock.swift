package import Foundation
import Synchronization

/// A time that passes only when a test says so, from 2027-01-15 on.
package final class TestClock: Sendable {
  private let time: Mutex<Date>

  package init(at time: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
    self.time = Mutex(time)
  }

  /// The time.
  package var now: @Sendable () -> Date { { [self] in read() } }

  private func read() -> Date { time.withLock { $0 } }

  /// Lets so many seconds pass.
  package func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
