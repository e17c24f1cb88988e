/// A picture that a program draws by itself: RGBA pixels whose colours do not carry alpha.
package struct Canvas: Sendable {
  package let size: PixelSize
  private var plane: Plane

  /// A clear canvas; both sizes are at least 1.
  package init(_ size: PixelSize) {
    self.size = size
    plane = Plane(size, channels: 4)
  }

  /// The red, green, blue and alpha at a place on the canvas, each from 0 to 255.
  package subscript(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
    get {
      let place = y * plane.stride + x * 4
      return (
        plane.samples[place], plane.samples[place + 1], plane.samples[place + 2],
        plane.samples[place + 3]
      )
    }
    set {
      let place = y * plane.stride + x * 4
      plane.samples[place] = newValue.red
      plane.samples[place + 1] = newValue.green
      plane.samples[place + 2] = newValue.blue
      plane.samples[place + 3] = newValue.alpha
    }
  }

  /// The canvas as a PNG file, through libpng.
  package func png() throws(ImagingError) -> [UInt8] {
    try Encoder.png(Raster(planes: [plane], model: .rgba)).bytes
  }
}
