/// What a check of the store found.
package struct CheckReport: Sendable, Equatable {
  /// Something that is not as it should be.
  package struct Finding: Sendable, Equatable {
    /// What is wrong, and what came of it, for people.
    package let sentence: String
    /// Whether it was put right.
    package let isRepaired: Bool
  }

  /// How many pieces of content were read and compared with their names.
  package internal(set) var blobs = 0
  /// How many renditions were read and compared with their heads.
  package internal(set) var renditions = 0
  /// Everything that was found; empty when all is well.
  package internal(set) var findings: [Finding] = []

  /// Whether nothing is wrong any more.
  package var isSound: Bool { findings.allSatisfy(\.isRepaired) }

  mutating func add(_ sentence: String, isRepaired: Bool = false) {
    findings.append(Finding(sentence: sentence, isRepaired: isRepaired))
  }
}
