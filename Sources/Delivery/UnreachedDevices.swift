package import Push
package import Store
import Synchronization
package import Primitives

/// Reports devices of platforms to which no configured push service sends.
package final class UnreachedDevices: Sendable {
  private let lanes: PlatformLanes
  private let log: Log
  private let clock: any SteadyClock
  /// When a platform was logged last.
  private let lastLogged = Mutex<[String: ContinuousClock.Instant]>([:])

  /// Reports to this log.
  package init(
    lanes: PlatformLanes, log: Log, clock: any SteadyClock = ContinuousClock()
  ) {
    (self.lanes, self.log, self.clock) = (lanes, log, clock)
  }

  /// Logs, at most once an hour, that a device has registered for a platform without pushes.
  package func registered(_ platform: String) {
    guard lanes.service(of: platform) == nil else { return }
    let now = clock.now
    let isDue = lastLogged.withLock { lastLogged in
      if let last = lastLogged[platform], now - last < .seconds(3600) { return false }
      lastLogged[platform] = now
      return true
    }
    guard isDue else { return }
    log(
      .warning, "push", "a device has registered for \(platform). \(lanes.gap(of: platform))")
  }

  /// The number of devices of each platform that gets no pushes.
  package func counts(in store: Store) async throws -> [(platform: String, count: Int)] {
    let unreached = lanes.unreached
    guard !unreached.isEmpty else { return [] }
    let counts = try await store.accounts.deviceCounts()
    return unreached.map { ($0, counts[$0] ?? 0) }
  }
}
