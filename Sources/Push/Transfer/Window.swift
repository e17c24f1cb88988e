/// How many requests are under way at once: more where answers take longer.
///
/// Each that is under way costs libcurl time with every answer to another. So there are few while
/// the service answers at once, and many where the way there and back is long.
struct Window {
  private static let smallest = 64
  private static let largest = 1000
  /// Between these times of an answer, in microseconds, their number is right.
  private static let right = 25_000...50_000

  /// As many may be under way.
  private(set) var size = smallest

  /// Learns from the time between a request and its answer, in microseconds.
  mutating func learn(_ time: Int) {
    if time > Self.right.upperBound { size = min(size + 1, Self.largest) }
    if time < Self.right.lowerBound { size = max(size - 1, Self.smallest) }
  }

  /// Makes room beside requests that nothing is heard of.
  mutating func widen() { size = min(size + Self.smallest, Self.largest) }
}
