import Glibc

/// How each sample of a row (or column) is made of source samples: Lanczos-3, in Q14.
struct Weights: Sendable {
  /// The first source sample of each result.
  let starts: [Int32]
  /// How many source samples each result has.
  let counts: [Int32]
  /// Weights stored for each result; the ones behind its count are zero.
  let taps: Int
  let values: [Int16]

  private static let one = 16384.0

  /// - Parameters:
  ///   - count: results.
  ///   - inputs: source samples there are.
  ///   - origin: where the first result begins, in source samples.
  ///   - step: source samples a result covers.
  ///   - multiple: what `taps` is rounded up to.
  init(_ count: Int, from inputs: Int, origin: Double, step: Double, multiple: Int) {
    var starts: [Int32] = []
    var rows: [[Int16]] = []
    for index in 0..<count {
      let centre = origin + (Double(index) + 0.5) * step
      let (start, weights) = Self.weights(around: centre, step: step, inputs: inputs)
      starts.append(Int32(start))
      rows.append(weights)
    }
    let longest = rows.map(\.count).max() ?? 1
    let taps = (longest + multiple - 1) / multiple * multiple
    self.starts = starts
    self.taps = taps
    counts = rows.map { Int32($0.count) }
    values = rows.flatMap { $0 + [Int16](repeating: 0, count: taps - $0.count) }
  }

  /// The source samples that any result needs.
  var reach: Range<Int> {
    let ends = zip(starts, counts).map { Int($0 + $1) }
    return Int(starts.min() ?? 0)..<(ends.max() ?? 1)
  }

  private static func weights(
    around centre: Double, step: Double, inputs: Int
  ) -> (start: Int, weights: [Int16]) {
    let stretch = max(step, 1)
    let low = min(max(0, Int((centre - 3 * stretch + 0.5).rounded(.down))), inputs - 1)
    let high = min(max(low + 1, Int((centre + 3 * stretch + 0.5).rounded(.down))), inputs)
    let exact = (low..<high).map { lanczos((Double($0) + 0.5 - centre) / stretch) }
    let sum = exact.reduce(0, +)
    guard sum > 1e-6 else { return (low, [Int16(one)]) }
    var carried = 0.0  // what rounding took from one weight is given to the next
    var weights = exact.map { weight in
      let wanted = weight / sum * one + carried
      let rounded = wanted.rounded()
      carried = wanted - rounded
      return Int16(rounded)
    }
    let leading = weights.prefix { $0 == 0 }.count
    weights.removeFirst(leading)
    while weights.last == 0 { weights.removeLast() }
    return (low + leading, weights)
  }

  private static func lanczos(_ x: Double) -> Double {
    if abs(x) < 1e-9 { return 1 }
    if abs(x) >= 3 { return 0 }
    if x == x.rounded() { return 0 }
    let angle = Double.pi * x
    return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
  }
}
