import Glibc

/// How each sample of a row (or column) is made of source samples, in Q14.
struct Weights: Sendable {
  /// The first source sample of each result.
  private(set) var starts: [Int32]
  /// How many source samples each result has.
  private(set) var counts: [Int32]
  /// Weights stored for each result; the ones behind its count are zero.
  let taps: Int
  private(set) var values: [Int16]

  private static let one = 16384.0

  /// - Parameters:
  ///   - count: results.
  ///   - inputs: source samples there are.
  ///   - origin: where the first result begins, in source samples.
  ///   - step: source samples a result covers.
  ///   - kernel: how they count.
  ///   - multiple: what `taps` is rounded up to.
  init(
    _ count: Int, from inputs: Int, origin: Double, step: Double, kernel: Kernel = .lanczos,
    multiple: Int
  ) {
    let stretch = max(step, 1)
    let centres = (0..<count).map { origin + (Double($0) + 0.5) * step }
    let reach = kernel.support * stretch
    // of Lanczos the samples whose centres it reaches, of an area all that it touches
    let (before, behind) = kernel == .lanczos ? (0.5, 0.5) : (0, 1)
    let reaches = centres.map { centre in
      let low = min(max(0, Int((centre - reach + before).rounded(.down))), inputs - 1)
      return low..<min(max(low + 1, Int((centre + reach + behind).rounded(.down))), inputs)
    }
    let longest = reaches.map(\.count).max() ?? 1
    taps = (longest + multiple - 1) / multiple * multiple
    starts = reaches.map { Int32($0.lowerBound) }
    counts = reaches.map { Int32($0.count) }
    values = [Int16](repeating: 0, count: count * taps)
    var exact = [Double](repeating: 0, count: longest)
    for (index, reach) in reaches.enumerated() {
      let first = (Double(reach.lowerBound) + 0.5 - centres[index]) / stretch
      let sum =
        kernel.fill(&exact, reach.count, from: first, by: 1 / stretch)
      set(index, to: exact[..<reach.count], sum)
    }
  }

  /// The source samples that any result needs.
  var reach: Range<Int> {
    let ends = zip(starts, counts).map { Int($0 + $1) }
    return Int(starts.min() ?? 0)..<(ends.max() ?? 1)
  }

  /// Rounds the weights of one result; zeros at its ends are left out.
  private mutating func set(_ index: Int, to exact: ArraySlice<Double>, _ sum: Double) {
    let first = index * taps
    guard sum > 1e-6 else {
      values[first] = Int16(Self.one)
      counts[index] = 1
      return
    }
    let scale = Self.one / sum
    var carried = 0.0  // what rounding took from one weight is given to the next
    var kept = 0
    var last = 0
    for weight in exact {
      let wanted = weight * scale + carried
      let rounded = Int16(wanted < 0 ? wanted - 0.5 : wanted + 0.5)
      carried = wanted - Double(rounded)
      if kept == 0, rounded == 0 {
        starts[index] += 1
        continue
      }
      values[first + kept] = rounded
      kept += 1
      if rounded != 0 { last = kept }
    }
    counts[index] = Int32(last)
  }
}

/// How the samples under a result count.
enum Kernel {
  /// Lanczos-3: the sharpest of what is smooth; beside an edge it leaves ripples.
  case lanczos
  /// Each by how much of it the result covers: an edge is one pixel wide, and what is flat beside it stays so.
  case area

  /// How far it reaches to both sides, in results.
  var support: Double { self == .lanczos ? 3 : 0.5 }

  /// Writes the weights of samples at equal distances, in results from its centre; gives their sum.
  func fill(
    _ values: inout [Double], _ count: Int, from start: Double, by step: Double
  ) -> Double {
    self == .lanczos
      ? Self.lanczos(from: start, by: step, count: count, to: &values)
      : Self.area(from: start, by: step, count: count, to: &values)
  }

  /// How much of each lies within half a result of the centre.
  private static func area(
    from start: Double, by step: Double, count: Int, to values: inout [Double]
  ) -> Double {
    var sum = 0.0
    for index in 0..<count {
      let centre = start + Double(index) * step
      values[index] = max(0, min(centre + step / 2, 0.5) - max(centre - step / 2, -0.5))
      sum += values[index]
    }
    return sum
  }

  /// Lanczos-3.
  ///
  /// sin(3a) is sin(a) (3 - 4 sin²(a)), and sin(a) is turned on from place to place: one sine for all.
  private static func lanczos(
    from start: Double, by step: Double, count: Int, to values: inout [Double]
  ) -> Double {
    let third = Double.pi / 3
    let (turnSine, turnCosine) = (sin(step * third), cos(step * third))
    var (sine, cosine) = (sin(start * third), cos(start * third))
    var sum = 0.0
    for index in 0..<count {
      let x = start + Double(index) * step
      let angle = x * third
      let square = sine * sine
      let value =
        abs(x) < 1e-6 ? 1 : abs(x) >= 3 ? 0 : square * (3 - 4 * square) / (3 * angle * angle)
      values[index] = value
      sum += value
      (sine, cosine) = (
        sine * turnCosine + cosine * turnSine, cosine * turnCosine - sine * turnSine
      )
    }
    return sum
  }
}
