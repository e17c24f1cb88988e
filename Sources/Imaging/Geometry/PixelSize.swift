/// Whole pixels, across and down.
package struct PixelSize: Hashable, Sendable, CustomStringConvertible {
  package var width: Int
  package var height: Int

  package init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  package var description: String { "\(width)x\(height)" }
  /// The same with width and height exchanged.
  package var transposed: PixelSize { PixelSize(height, width) }
  package var pixels: Int { width * height }
}
