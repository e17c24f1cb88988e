/// The colours of a picture in cells of five bits a colour and three of alpha, cut at the median where
/// they spread most (Heckbert 1982).
struct ColourCells {
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
    _ = raster.everyPixel { _, _, colour in
      let cell = Self.cell(of: colour)
      counts[cell] += 1
      sums[cell] &+= SIMD4(truncatingIfNeeded: colour)
      return true
    }
  }

  /// Cuts into at most that many parts and gives the mean colour of each.
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

  /// The part that a colour of the picture fell into.
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
