import MediaTypes
@testable import Imaging

/// The pixels of a file, decoded at full size.
struct Decoded {
  let plane: Plane
  let model: ColourModel

  /// With `checking` a PNG is read as at publication, by libpng alone.
  init(_ bytes: [UInt8], checking: Bool = true) throws {
    let source = SourceFile(bytes: bytes)
    let kind = try PictureKind(source)
    let limits = Limits()
    if kind == .jpeg {
      let reader = try JPEGReader(source, limits: limits)
      let resampler = FrameResampler(whole: reader.size)
      try reader.start(eighths: 8, limits: limits)
      let planes = try resampler.resample(reader, halvingChroma: false)
      let mixed = Mixing.interleaved(planes, model: reader.model)
      plane =
        reader.model.isInks ? Mixing.rgb(ofInks: mixed) : mixed
      model = plane.channels == 1 ? .grey : .rgb
    } else {
      let reader = try PNGReader(source, limits: limits, checking: checking)
      try reader.start()
      let raster = try FrameResampler(whole: reader.size).resample(reader)
      plane = raster.planes[0]
      model = raster.model
    }
  }

  var size: PixelSize { plane.size }

  /// The samples of a pixel.
  subscript(x: Int, y: Int) -> [Int] {
    let start = y * plane.stride + x * plane.channels
    return plane.samples[start..<start + plane.channels].map(Int.init)
  }

  /// The largest difference of any sample from those of another picture of the same size.
  func largestDifference(from other: Decoded) -> Int {
    var result = 0
    for y in 0..<size.height {
      for x in 0..<size.width {
        for (a, b) in zip(self[x, y], other[x, y]) { result = max(result, abs(a - b)) }
      }
    }
    return result
  }
}

extension Raster {
  /// A pixel of an interleaved raster, alpha 255 where there is none.
  func colour(_ x: Int, _ y: Int) -> SIMD4<UInt8> {
    let plane = planes[0]
    let at = y * plane.stride + x * plane.channels
    let grey = plane.samples[at]
    guard plane.channels > 1 else { return SIMD4(grey, grey, grey, 255) }
    let alpha = plane.channels == 4 ? plane.samples[at + 3] : 255
    return SIMD4(grey, plane.samples[at + 1], plane.samples[at + 2], alpha)
  }
}

extension FrameResampler {
  init(whole size: PixelSize) {
    self.init(
      Frame(of: size, width: nil, height: nil, fit: .contain, focus: .centre),
      orientation: .upright, stored: size)
  }
}
