extension Options {
  /// Sets an option by its name in a query or on a command line.
  package mutating func set(_ name: String, _ text: String?) throws(ImagingError) {
    guard let text else { return }
    switch name {
    case "profile": profile = try Self.word(name, text)
    case "fit": fit = try Self.word(name, text)
    case "width": width = try Self.number(name, text, in: 1...30_000)
    case "height": height = try Self.number(name, text, in: 1...30_000)
    case "max-bytes": maximumBytes = try Self.number(name, text, in: 1...1_000_000_000)
    case "linear": isLinear = try Self.number(name, text, in: 0...1) == 1
    case "dpr":
      guard let value = Double(text), (0.5...4).contains(value) else {
        throw ImagingError(.invalidOption, "dpr is a number from 0.5 to 4, not \(text).")
      }
      density = value
    case "focus":
      let parts = text.split(separator: ",").compactMap { Double($0) }
      guard parts.count == 2, parts.allSatisfy({ (0...1).contains($0) }) else {
        throw ImagingError(
          .invalidOption, "focus is two fractions of width and height such as 0.5,0.3, not \(text)."
        )
      }
      focus = FocalPoint(x: parts[0], y: parts[1])
    default: throw ImagingError(.invalidOption, "There is no option \(name).")
    }
  }

  private static func word<Value: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ text: String
  ) throws(ImagingError) -> Value {
    guard let value = Value(rawValue: text) else {
      let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw ImagingError(.invalidOption, "\(name) is one of \(known), not \(text).")
    }
    return value
  }

  private static func number(
    _ name: String, _ text: String, in range: ClosedRange<Int>
  ) throws(ImagingError) -> Int {
    guard let value = Int(text), range.contains(value) else {
      throw ImagingError(
        .invalidOption,
        "\(name) is a number from \(range.lowerBound) to \(range.upperBound), not \(text).")
    }
    return value
  }
}
