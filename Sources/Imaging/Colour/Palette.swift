import MediaTypes

/// A picture as indexes into at most 256 colours.
struct Palette: Sendable {
  /// Red, green, blue and alpha of each colour.
  let colours: [SIMD4<UInt8>]
  let indexes: Plane

  /// The colours of a raster; nil when there are more than 256.
  init?(exactly raster: Raster) {
    guard raster.planes.count == 1 else { return nil }
    var known: [SIMD4<UInt8>: UInt8] = [:]
    var colours: [SIMD4<UInt8>] = []
    var indexes = Plane(raster.size, channels: 1)
    var last = SIMD4<UInt8>()
    var lastIndex: UInt8?
    let areFew = raster.allPixels { x, y, colour in
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

  /// 256 colours that are near to all others.
  init(nearest raster: Raster) {
    var cells = ColourCells(raster)
    colours = cells.cut(into: 256)
    var indexes = Plane(raster.size, channels: 1)
    _ = raster.allPixels { x, y, colour in
      indexes.samples[y * indexes.stride + x] = cells.part(of: colour)
      return true
    }
    self.indexes = indexes
  }
}

extension Raster {
  /// Whether all pixels of an interleaved raster fulfil a condition, which gets them row by row, with
  /// alpha 255 when there is none, until it is false.
  func allPixels(_ holds: (_ x: Int, _ y: Int, SIMD4<UInt8>) -> Bool) -> Bool {
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
          guard holds(x, y, colour) else { return false }
          at += plane.channels
        }
      }
      return true
    }
  }
}

/// The colours of a picture, multiplied by alpha, in cells of six bits a sample.
private struct ColourCells {
  private struct Cell {
    let number: Int
    /// The mean colour, as important as eyes find its samples.
    let colour: SIMD4<Float>
    let pixels: Float
  }

  /// Cells next to each other.
  private struct Part {
    let cells: Range<Int>
    let mean: SIMD4<Float>
    /// The channel along which the colours spread most, and how much, weighted by pixels.
    let channel: Int
    let spread: Float
  }

  private static let importance = SIMD4<Float>(0.6, 1, 0.5, 1)
  private var cells: [Cell] = []
  private var parts = [UInt8](repeating: 0, count: 1 << 24)

  init(_ raster: Raster) {
    var colours: [UInt32] = []
    colours.reserveCapacity(raster.size.pixels)
    _ = raster.allPixels { _, _, colour in
      colours.append(Self.packed(colour))
      return true
    }
    colours.sort()
    var start = 0
    while start < colours.count {
      let number = colours[start] >> 8
      var (end, sum) = (start, SIMD4<Float>())
      while end < colours.count, colours[end] >> 8 == number {
        sum += Self.unpacked(colours[end])
        end += 1
      }
      let pixels = Float(end - start)
      cells.append(
        Cell(number: Int(number), colour: sum / pixels * Self.importance, pixels: pixels))
      start = end
    }
  }

  /// Divides the colours into at most `limit` parts: cut at the mean where they spread most, and then
  /// each given to the part whose mean is nearest (Lloyd 1982).
  ///
  /// - Returns: The mean colour of each part.
  mutating func cut(into limit: Int) -> [SIMD4<UInt8>] {
    var cuts = [part(cells.indices)]
    while cuts.count < limit {
      let widest = cuts.indices.max { cuts[$0].spread < cuts[$1].spread } ?? 0
      let old = cuts[widest]
      let middle = cells[old.cells].partition { $0.colour[old.channel] > old.mean[old.channel] }
      guard old.spread > 0, middle > old.cells.lowerBound, middle < old.cells.upperBound else {
        break
      }
      cuts[widest] = part(old.cells.lowerBound..<middle)
      cuts.append(part(middle..<old.cells.upperBound))
    }
    var means = cuts.map(\.mean)
    for _ in 0..<2 { means = assigned(to: means) }
    return means.map(Self.straight)
  }

  /// The part of a colour of the picture.
  func part(of colour: SIMD4<UInt8>) -> UInt8 { parts[Int(Self.packed(colour) >> 8)] }

  /// Gives each cell to the nearest mean, and returns the new means.
  private mutating func assigned(to means: [SIMD4<Float>]) -> [SIMD4<Float>] {
    var sums = means.map { _ in (colour: SIMD4<Float>(), pixels: Float(0)) }
    for cell in cells {
      var (nearest, least) = (0, Float.infinity)
      for (index, mean) in means.enumerated() {
        let difference = cell.colour - mean
        let distance = (difference * difference).sum()
        if distance < least { (nearest, least) = (index, distance) }
      }
      parts[cell.number] = UInt8(nearest)
      sums[nearest].colour += cell.colour * cell.pixels
      sums[nearest].pixels += cell.pixels
    }
    return zip(means, sums).map { $1.pixels > 0 ? $1.colour / $1.pixels : $0 }
  }

  private func part(_ range: Range<Int>) -> Part {
    let pixels = cells[range].reduce(Float(0)) { $0 + $1.pixels }
    let mean = cells[range].reduce(SIMD4()) { $0 + $1.colour * $1.pixels } / max(pixels, 1)
    let spread = cells[range].reduce(SIMD4<Float>()) { sum, cell in
      let difference = cell.colour - mean
      return sum + difference * difference * cell.pixels
    }
    let channel = (0..<4).max { spread[$0] < spread[$1] } ?? 0
    return Part(cells: range, mean: mean, channel: channel, spread: spread[channel])
  }

  /// A colour, multiplied by alpha, that is sorted by the upper six bits of its samples.
  private static func packed(_ colour: SIMD4<UInt8>) -> UInt32 {
    var wide = SIMD4<UInt32>(truncatingIfNeeded: colour)
    wide = (wide &* SIMD4(wide.w, wide.w, wide.w, 255) &+ 127) / 255
    let (high, low) = (wide &>> 2, wide & 3)
    return (high.x << 18 | high.y << 12 | high.z << 6 | high.w) << 8
      | low.x << 6 | low.y << 4 | low.z << 2 | low.w
  }

  private static func unpacked(_ packed: UInt32) -> SIMD4<Float> {
    let high = SIMD4(packed >> 24, packed >> 18, packed >> 12, packed >> 6) & 252
    let low = SIMD4(packed >> 6, packed >> 4, packed >> 2, packed) & 3
    return SIMD4<Float>(high | low)
  }

  /// A mean as a colour that is not multiplied by alpha.
  private static func straight(_ mean: SIMD4<Float>) -> SIMD4<UInt8> {
    var colour = mean / importance
    let factor = 255 / max(colour.w, 1)
    colour *= SIMD4(factor, factor, factor, 1)
    colour.round(.toNearestOrAwayFromZero)
    return SIMD4<UInt8>(colour.clamped(lowerBound: SIMD4(), upperBound: SIMD4(repeating: 255)))
  }
}
