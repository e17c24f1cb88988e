/// Waiting times that double with every failure, spread so that clients don't return in step.
package struct Backoff: Sendable {
  private let first: Duration
  private let longest: Duration

  package init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// The time to wait after `failures` failures in a row (at least one).
  ///
  /// `random` is between 0 and 1 and moves the result between half and all of the doubled time.
  package func delay(after failures: Int, random: Double) -> Duration {
    let doublings = min(max(failures - 1, 0), 30)
    let full = min(first * (1 << doublings), longest)
    return full * (0.5 + 0.5 * random)
  }
}
