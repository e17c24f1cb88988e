package import RichPushAPI
import Store

/// What differs between two names that look alike (`AssetRecord.folded`).
package struct NameDifference: Sendable, Equatable {
  /// The parts that differ, in the order of the name.
  private let differences: [Difference]

  private struct Difference: Equatable {
    let given: [Unicode.Scalar]
    let other: [Unicode.Scalar]
  }

  /// Compares a name with another one.
  package init(from given: String, to other: String) {
    let (given, other) = (Array(given.unicodeScalars), Array(other.unicodeScalars))
    var (first, second) = (0, 0)
    var differences: [Difference] = []
    while first < given.count || second < other.count {
      if first < given.count, second < other.count, given[first] == other[second] {
        (first, second) = (first + 1, second + 1)
        continue
      }
      let counts = Self.step(given[first...], other[second...])
      differences.append(
        Difference(
          given: Array(given[first...].prefix(counts.given)),
          other: Array(other[second...].prefix(counts.other))))
      (first, second) = (first + counts.given, second + counts.other)
    }
    self.differences = differences
  }

  /// How many characters at the beginnings differ before the rest may be equal again.
  private static func step(
    _ given: ArraySlice<Unicode.Scalar>, _ other: ArraySlice<Unicode.Scalar>
  ) -> (given: Int, other: Int) {
    let next = { (rest: ArraySlice<Unicode.Scalar>) in rest.first.map { AssetRecord.folded($0) } }
    switch (next(given), next(other)) {
    case (let one?, let two?) where one == two && !one.isEmpty: return (1, 1)
    // A space or an invisible character that the other has not, or a kind of space for another.
    case (""?, ""?):
      if given.dropFirst().first == other.first { return (1, 0) }
      return other.dropFirst().first == given.first ? (0, 1) : (1, 1)
    case (""?, _): return (1, 0)
    case (_, ""?): return (0, 1)
    default: return (min(1, given.count), min(1, other.count))
    }
  }

  /// The number of differences.
  package var count: Int { differences.count }

  /// Whether the names differ only in upper and lower case.
  package var isCaseOnly: Bool {
    differences.allSatisfy {
      $0.given.count == 1 && $0.other.count == 1
        && $0.given[0].properties.lowercaseMapping == $0.other[0].properties.lowercaseMapping
    }
  }

  /// What the other name has, such as `has a narrow no-break space (U+202F) instead of a space (U+0020)`.
  package var description: String {
    if isCaseOnly { return "differs only in upper and lower case" }
    var phrases: [String] = []
    for difference in differences {
      let phrase =
        switch (difference.given.isEmpty, difference.other.isEmpty) {
        case (true, _): "one more \(Self.name(difference.other))"
        case (_, true): "no \(Self.name(difference.given))"
        default: "\(Self.name(difference.other)) instead of \(Self.name(difference.given))"
        }
      if !phrases.contains(phrase) { phrases.append(phrase) }
    }
    let rest = phrases.count > 3 ? " and \(phrases.count - 3) more differences" : ""
    return "has " + phrases.prefix(3).joined(separator: ", ") + rest
  }

  /// A character's name, with its number unless it is an ASCII letter.
  private static func name(_ scalars: [Unicode.Scalar]) -> String {
    scalars.map { scalar in
      let number = String(scalar.value, radix: 16, uppercase: true)
      let padded = String(repeating: "0", count: max(0, 4 - number.count)) + number
      let name = scalar.properties.name?.lowercased() ?? "character"
      let visible = scalar.properties.generalCategory != .format && scalar.value > 0x20
      let isShown = visible && !scalar.properties.isWhitespace
      return (isShown ? "“\(scalar)”, " : "") + "\(name) (U+\(padded))"
    }.joined(separator: " and ")
  }
}

extension AssetRecord {
  fileprivate static func folded(_ scalar: Unicode.Scalar) -> String { folded(String(scalar)) }
}

extension AssetIntake {
  /// What to add to the error that there is no asset of this name, for a caller who may list assets: another one that
  /// looks alike, and how it differs; nil if there is none.
  package func suggestion(for name: String, _ richType: String) async -> String? {
    let names = (try? await store.assets.assetNames(like: name, richType: richType)) ?? []
    let similar = names.map { ($0, NameDifference(from: name, to: $0)) }
      .min { $0.1.count < $1.1.count }
    return similar.map { "there is \($0.0.quoted), which \($0.1.description)." }
  }

  /// Adds what looks alike to the error that there is no asset of this name.
  package func explaining(
    _ error: ServiceError, _ richType: String, _ name: AssetName
  ) async -> ServiceError {
    guard error.code == .notFound, let similar = await suggestion(for: name.value, richType) else {
      return error
    }
    return ServiceError(.notFound, String(error.reason.dropLast()) + "; " + similar)
  }
}
