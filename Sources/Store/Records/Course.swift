package import FoundationEssentials

/// How often each step was reached first in periods of one length, of which there are a few dozen at most.
package struct Course: Sendable, Equatable {
  /// When the first period begins.
  package let start: Date
  /// How long each of them is, in seconds.
  package private(set) var length = Self.lengths[0]
  /// The numbers by period, as far as there are any.
  package private(set) var counts: [CourseStep: [Int]] = [:]
  /// The number of periods.
  package private(set) var periods = 0

  /// Each divides the next one, so that what is counted already need not be counted again.
  private static let lengths = [
    10, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400, 7 * 86_400, 28 * 86_400,
  ]
  /// The most periods.
  package static let limit = 60

  package init(since start: Date) { self.start = start }

  /// Counts that a step was reached at a time; one before the start counts in the first period.
  mutating func add(_ step: CourseStep, at time: Date, _ number: Int = 1) {
    let second = Int(max(0, min(time.timeIntervalSince(start), 1e12)))
    while second / length >= Self.limit { lengthen() }
    let period = second / length
    periods = max(periods, period + 1)
    var numbers = counts[step] ?? []
    if numbers.count <= period {
      numbers += [Int](repeating: 0, count: period + 1 - numbers.count)
    }
    numbers[period] += number
    counts[step] = numbers
  }

  /// The numbers of a step, one for each period.
  package subscript(step: CourseStep) -> [Int] {
    let numbers = counts[step] ?? []
    return numbers + [Int](repeating: 0, count: periods - numbers.count)
  }

  private mutating func lengthen() {
    let next = Self.lengths.first { $0 > length } ?? 2 * length
    let factor = next / length
    counts = counts.mapValues { numbers in
      stride(from: 0, to: numbers.count, by: factor).map { first in
        numbers[first..<min(first + factor, numbers.count)].reduce(0, +)
      }
    }
    periods = (periods + factor - 1) / factor
    length = next
  }
}
