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

  /// The best 256 colours by median cut.
  init(nearest raster: Raster) {
    var cells = MedianCut(raster)
    colours = cells.cut(into: 256)
    var indexes = Plane(raster.size, channels: 1)
    _ = raster.allPixels { x, y, colour in
      indexes.samples[y * indexes.stride + x] = cells.index(of: colour)
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

/// Median cut (Heckbert 1982) of the colours of a picture, in cells of five bits for each colour and
/// three for alpha.
private struct MedianCut {
  private var counts: [UInt32]
  private var sums: [SIMD4<UInt32>]
  private var owners: [UInt8]

  private struct Box {
    var cells: [Int]
    /// The channel along which the colours spread most, and how much, weighted by pixels.
    var channel: Int
    var spread: Double
  }

  init(_ raster: Raster) {
    counts = Array(repeating: 0, count: 1 << 18)
    sums = Array(repeating: SIMD4(), count: 1 << 18)
    owners = Array(repeating: 0, count: 1 << 18)
    _ = raster.allPixels { _, _, colour in
      let cell = Self.cell(of: colour)
      counts[cell] += 1
      sums[cell] &+= SIMD4(truncatingIfNeeded: colour)
      return true
    }
  }

  /// Cuts the colours into at most `limit` parts.
  ///
  /// - Returns: The mean colour of each.
  mutating func cut(into limit: Int) -> [SIMD4<UInt8>] {
    var boxes = [box(counts.indices.filter { counts[$0] > 0 })]
    while boxes.count < limit {
      let widest = boxes.indices.max { boxes[$0].spread < boxes[$1].spread } ?? 0
      guard boxes[widest].spread > 0 else { break }
      let (low, high) = halves(of: boxes[widest])
      boxes[widest] = box(low)
      boxes.append(box(high))
    }
    for (index, box) in boxes.enumerated() {
      for cell in box.cells { owners[cell] = UInt8(index) }
    }
    return boxes.map { mean(of: $0.cells) }
  }

  /// The part of a colour of the picture.
  func index(of colour: SIMD4<UInt8>) -> UInt8 { owners[Self.cell(of: colour)] }

  private static func cell(of colour: SIMD4<UInt8>) -> Int {
    Int(colour.x >> 3) << 13 | Int(colour.y >> 3) << 8 | Int(colour.z >> 3) << 3
      | Int(colour.w >> 5)
  }

  private func value(_ cell: Int) -> SIMD4<Double> {
    SIMD4<Double>(sums[cell]) / Double(counts[cell])
  }

  private func mean(of cells: [Int]) -> SIMD4<UInt8> {
    var sum = SIMD4<Double>()
    var count = 0.0
    for cell in cells {
      sum += SIMD4<Double>(sums[cell])
      count += Double(counts[cell])
    }
    return SIMD4<UInt8>((sum / max(count, 1)).rounded(.toNearestOrAwayFromZero))
  }

  private func box(_ cells: [Int]) -> Box {
    var sum = SIMD4<Double>()
    var squares = SIMD4<Double>()
    var count = 0.0
    for cell in cells {
      let weight = Double(counts[cell])
      let value = value(cell)
      sum += value * weight
      squares += value * value * weight
      count += weight
    }
    let spread = cells.count < 2 ? SIMD4<Double>() : squares - sum * sum / max(count, 1)
    let channel = (0..<4).max { spread[$0] < spread[$1] } ?? 0
    return Box(cells: cells, channel: channel, spread: spread[channel])
  }

  private func halves(of box: Box) -> ([Int], [Int]) {
    let sorted = box.cells.sorted { value($0)[box.channel] < value($1)[box.channel] }
    let total = sorted.reduce(0) { $0 + Int(counts[$1]) }
    var seen = 0
    let middle = sorted.firstIndex { cell in
      seen += Int(counts[cell])
      return seen * 2 >= total
    }
    let split = min(max(1, (middle ?? 0) + 1), sorted.count - 1)
    return (Array(sorted[..<split]), Array(sorted[split...]))
  }
}
