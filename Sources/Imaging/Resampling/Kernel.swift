import Glibc

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
