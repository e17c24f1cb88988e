/// One thing that was done to a picture, for `--explain`.
package struct Step: Sendable {
  package let name: String
  package let detail: String
  package let duration: Duration
}

/// The steps taken so far.
struct Journal {
  private(set) var steps: [Step] = []

  /// Runs a step and writes down how long it took.
  mutating func step<Result>(
    _ name: String, _ detail: (Result) -> String, _ body: () throws(ImagingError) -> Result
  ) throws(ImagingError) -> Result {
    let clock = ContinuousClock()
    let start = clock.now
    let result = try body()
    steps.append(Step(name: name, detail: detail(result), duration: clock.now - start))
    return result
  }
}
