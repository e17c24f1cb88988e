/// A clock that only goes on, by which this process measures its own deadlines and pauses.
///
/// It is the machine's, `ContinuousClock`, but in tests, which let time pass.
package protocol SteadyClock: Clock where Instant == ContinuousClock.Instant {}

extension ContinuousClock: SteadyClock {}

extension SteadyClock {
  /// Suspends for so long, or throws when the task is cancelled.
  package func sleep(for duration: Duration) async throws {
    try await sleep(until: now + duration, tolerance: nil)
  }
}
