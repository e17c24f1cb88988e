/// A part of a picture, in pixels, not necessarily whole ones.
struct Crop: Equatable, Sendable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double

  init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// All of a picture.
  init(_ size: PixelSize) {
    self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
  }
}
