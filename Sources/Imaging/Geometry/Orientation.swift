/// How the stored pixels have to be turned to stand upright: the EXIF tag 0x0112.
package enum Orientation: UInt8, Sendable, CaseIterable {
  case upright = 1
  case mirrored, upsideDown, flipped, transposed, clockwise, transversed, counterclockwise

  /// Whether stored rows become upright columns.
  package var isTransposing: Bool { rawValue >= 5 }
  /// Whether the upright picture reads stored columns from the right.
  var readsFromRight: Bool {
    [.mirrored, .upsideDown, .transversed, .counterclockwise].contains(self)
  }
  /// Whether the upright picture reads stored rows from below.
  var readsFromBelow: Bool { [.upsideDown, .flipped, .clockwise, .transversed].contains(self) }

  /// The size of the upright picture, or of the stored one for an upright size.
  package func applied(to size: PixelSize) -> PixelSize { isTransposing ? size.transposed : size }

  /// Where a window of the upright picture lies among the stored pixels of a picture of that size.
  func stored(_ window: Crop, in size: PixelSize) -> Crop {
    var result = window
    if isTransposing {
      result = Crop(x: window.y, y: window.x, width: window.height, height: window.width)
    }
    if readsFromRight { result.x = Double(size.width) - result.x - result.width }
    if readsFromBelow { result.y = Double(size.height) - result.y - result.height }
    return result
  }
}
