/// Exponential backoff with jitter: delays double with every failure, spread so that clients do not retry
/// in step.
package struct Backoff: Sendable {
  private let first: Duration
  private let longest: Duration

  package init(first: Duration, longest: Duration) {
    (self.first, self.longest) = (first, longest)
  }

  /// The delay after `failures` failures in a row (at least one).
  ///
  /// `random`, from 0 to 1, picks a time between half and all of the doubled delay.
  package func delay(after failures: Int, random: Double) -> Duration {
    // 2^30 times any delay exceeds the longest, and more would overflow.
    let doublings = min(max(failures - 1, 0), 30)
    let full = min(first * (1 << doublings), longest)
    return full * (0.5 + 0.5 * random)
  }
}

extension Duration {
  /// The duration as a floating-point number of seconds.
  var seconds: Double { self / .seconds(1) }
}
