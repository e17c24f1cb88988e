/// How a picture goes into a box.
package enum BoxFit: String, Sendable, CaseIterable {
  /// All of it is seen.
  case contain
  /// The box is filled, the rest is cut.
  case cover
}

/// The point that must stay in sight when a picture is cut, as fractions of its upright size.
package struct FocalPoint: Hashable, Sendable {
  package let x: Double
  package let y: Double

  /// The middle of the picture.
  package static let centre = FocalPoint(x: 0.5, y: 0.5)
}
