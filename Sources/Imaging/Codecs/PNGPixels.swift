/// Pixels as a PNG stores them: samples, or numbers of a palette's colours.
struct PNGPixels {
  let plane: Plane
  /// The colours, when the pixels are numbers of them.
  let colours: [SIMD4<UInt8>]
  /// Bits of a sample or number: 1, 2, 4 or 8.
  let depth: Int
}

extension PNGPixels {
  /// Without loss, in the fewest bits: a palette when 256 colours are enough.
  init(exactly raster: Raster) {
    if let palette = Palette(exactly: raster) {
      self.init(palette)
    } else {
      let plane = raster.planes[0]
      let isGrey = raster.model == .rgba && plane.isNeutral
      self.init(plane: isGrey ? plane.keeping([0, 3]) : plane, colours: [], depth: 8)
    }
  }

  /// The pixels of a palette, as grey samples where these take no more bits.
  init(_ palette: Palette) {
    if let greyDepth = palette.greyDepth, greyDepth <= palette.depth {
      let step = UInt8(255 / (1 << greyDepth - 1))
      self.init(plane: palette.mapped { $0.x / step }, colours: [], depth: greyDepth)
    } else {
      self.init(plane: palette.indexes, colours: palette.colours, depth: palette.depth)
    }
  }

  /// What they are, in a few words.
  var name: String {
    guard colours.isEmpty else { return "\(colours.count) colours of \(depth) bits" }
    switch plane.channels {
    case 1: return "grey of \(depth) bits"
    case 2: return "grey and alpha"
    case 3: return "RGB"
    default: return "RGBA"
    }
  }
}

extension Palette {
  /// The bits that number the colours.
  fileprivate var depth: Int { [1, 2, 4].first { colours.count <= 1 << $0 } ?? 8 }

  /// The bits of grey samples that are these colours exactly; nil when there are others than opaque greys.
  fileprivate var greyDepth: Int? {
    guard colours.allSatisfy({ $0.x == $0.y && $0.x == $0.z && $0.w == 255 }) else { return nil }
    return [1, 2, 4].first { depth in
      colours.allSatisfy { Int($0.x) % (255 / (1 << depth - 1)) == 0 }
    } ?? 8
  }

  /// A plane with something of each pixel's colour.
  fileprivate func mapped(_ sample: (SIMD4<UInt8>) -> UInt8) -> Plane {
    let values = colours.map(sample)
    var result = indexes
    for index in result.samples.indices {
      result.samples[index] = values[Int(result.samples[index])]
    }
    return result
  }
}
