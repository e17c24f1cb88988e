/// A picture as indexes into at most 256 colours.
struct Palette: Sendable {
  /// Red, green, blue and alpha of each colour.
  let colours: [SIMD4<UInt8>]
  let indexes: Plane

  /// The colours a raster has; nil when there are more than 256.
  init?(exactly raster: Raster) {
    guard raster.planes.count == 1 else { return nil }
    var known: [SIMD4<UInt8>: UInt8] = [:]
    var colours: [SIMD4<UInt8>] = []
    var indexes = Plane(raster.size, channels: 1)
    var last = SIMD4<UInt8>()
    var lastIndex: UInt8?
    let areFew = raster.everyPixel { x, y, colour in
      if colour != last || lastIndex == nil {
        last = colour
        lastIndex = known[colour]
        if lastIndex == nil {
          guard colours.count < 256 else { return false }
          lastIndex = UInt8(colours.count)
          known[colour] = lastIndex
          colours.append(colour)
        }
      }
      indexes.samples[y * indexes.stride + x] = lastIndex ?? 0
      return true
    }
    guard areFew else { return nil }
    self.colours = colours
    self.indexes = indexes
  }

  /// The best 256 colours by median cut.
  init(nearest raster: Raster) {
    var cells = ColourCells(raster)
    colours = cells.cut(into: 256)
    var indexes = Plane(raster.size, channels: 1)
    _ = raster.everyPixel { x, y, colour in
      indexes.samples[y * indexes.stride + x] = cells.index(of: colour)
      return true
    }
    self.indexes = indexes
  }
}

extension Raster {
  /// Hands over the pixels of an interleaved raster row by row, alpha 255 where there is none, until one is refused;
  /// tells whether none was.
  func everyPixel(_ takes: (_ x: Int, _ y: Int, SIMD4<UInt8>) -> Bool) -> Bool {
    let plane = planes[0]
    return plane.samples.withUnsafeBufferPointer { samples in
      for y in 0..<size.height {
        var at = y * plane.stride
        for x in 0..<size.width {
          let first = samples[at]
          let colour =
            switch plane.channels {
            case 1: SIMD4(first, first, first, 255)
            case 3: SIMD4(first, samples[at + 1], samples[at + 2], 255)
            default: SIMD4(first, samples[at + 1], samples[at + 2], samples[at + 3])
            }
          guard takes(x, y, colour) else { return false }
          at += plane.channels
        }
      }
      return true
    }
  }
}
