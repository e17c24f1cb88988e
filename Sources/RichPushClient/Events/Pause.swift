/// How long a listener waits before it connects again: longer each time, and never all at once.
struct Pause {
  /// The wait after the first failure, which the server may set.
  var shortest = Duration.seconds(1)
  private var failures = 0

  /// The next wait: doubled up to half a minute, a random half of it taken off.
  ///
  /// A million phones whose server was restarted must not come back in the same second.
  mutating func next(atLeast seconds: Double? = nil) -> Duration {
    let doubled = shortest * (1 << min(failures, 6))
    failures += 1
    let wait = min(doubled, max(.seconds(30), shortest)) * Double.random(in: 0.5...1)
    return max(wait, .seconds(seconds ?? 0))
  }

  /// A connection was made: the next failure is a first one again.
  mutating func reset() { failures = 0 }
}
