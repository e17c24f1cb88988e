/// A picture as indexes into at most 256 colours.
struct Palette: Sendable {
  /// Red, green, blue and alpha of each colour.
  let colours: [SIMD4<UInt8>]
  let indexes: Plane

  /// The colours a raster has; nil when there are more than 256.
  init?(exactly raster: Raster) {
    guard raster.planes.count == 1, raster.model != .grey else { return nil }
    var known: [SIMD4<UInt8>: UInt8] = [:]
    var colours: [SIMD4<UInt8>] = []
    var indexes = Plane(raster.size, channels: 1)
    for y in 0..<raster.size.height {
      var last = SIMD4<UInt8>()
      var lastIndex: UInt8?
      for x in 0..<raster.size.width {
        let colour = raster.colour(x, y)
        if colour != last || lastIndex == nil {
          if let index = known[colour] {
            lastIndex = index
          } else {
            guard colours.count < 256 else { return nil }
            lastIndex = UInt8(colours.count)
            known[colour] = lastIndex
            colours.append(colour)
          }
          last = colour
        }
        indexes.samples[y * indexes.stride + x] = lastIndex ?? 0
      }
    }
    self.colours = colours
    self.indexes = indexes
  }

  /// The best 256 colours by median cut.
  init(nearest raster: Raster) {
    var cells = ColourCells(raster)
    colours = cells.cut(into: 256)
    var indexes = Plane(raster.size, channels: 1)
    for y in 0..<raster.size.height {
      for x in 0..<raster.size.width {
        indexes.samples[y * indexes.stride + x] = cells.index(of: raster.colour(x, y))
      }
    }
    self.indexes = indexes
  }
}

extension Raster {
  /// A pixel of an interleaved raster; alpha is 255 where there is none.
  func colour(_ x: Int, _ y: Int) -> SIMD4<UInt8> {
    let plane = planes[0]
    let at = y * plane.stride + x * plane.channels
    let samples = plane.samples
    switch plane.channels {
    case 1: return SIMD4(samples[at], samples[at], samples[at], 255)
    case 3: return SIMD4(samples[at], samples[at + 1], samples[at + 2], 255)
    default: return SIMD4(samples[at], samples[at + 1], samples[at + 2], samples[at + 3])
    }
  }
}
