import CCodecs
package import MediaTypes

/// An encoded picture.
struct Encoded {
  let bytes: [UInt8]
  let format: PictureFormat
  let size: PixelSize
  /// The format and its parameters, in a few words.
  let detail: String
}

/// Encodes rasters as files without metadata.
enum Encoder {
  /// The most pixels for which Huffman tables are optimised: for a thumbnail that takes a tenth of a
  /// millisecond and saves a tenth of the bytes; for larger pictures it doubles the time and saves a
  /// fiftieth.
  private static let thumbnailPixels = 40_000

  /// Baseline JPEG, 4:2:0.
  static func jpeg(_ raster: Raster, quality: Int = 82) throws(ImagingError) -> Encoded {
    var planes = raster.planes
    if raster.model == .ycc { for index in planes.indices { planes[index].padRows() } }
    let isSmall = raster.size.pixels <= thumbnailPixels
    let bytes = try write(planes, of: raster) { description, buffer, message in
      codec_jpeg_write(&description, Int32(quality), isSmall ? 1 : 0, &buffer, message)
    }
    return Encoded(
      bytes: bytes, format: .jpeg, size: raster.size, detail: "JPEG, quality \(quality)")
  }

  /// PNG without loss.
  static func png(_ raster: Raster) throws(ImagingError) -> Encoded {
    try png(PNGPixels(exactly: raster), of: raster)
  }

  /// PNG in 256 colours.
  static func palettePNG(_ raster: Raster) throws(ImagingError) -> Encoded {
    try png(PNGPixels(Palette(exactly: raster) ?? Palette(nearest: raster)), of: raster)
  }

  private static func png(_ pixels: PNGPixels, of raster: Raster) throws(ImagingError) -> Encoded {
    let entries = pixels.colours.flatMap { [$0.x, $0.y, $0.z, $0.w] }
    let areIndexes = pixels.depth < 8 || !pixels.colours.isEmpty
    let isFlat = areIndexes || raster.flatness > 0.4  // filters help photographs and hurt drawings
    let level: Int32 = isFlat ? (pixels.plane.channels == 1 ? 6 : 3) : 2
    let bytes = try write([pixels.plane], of: raster) { description, buffer, message in
      codec_png_write(
        &description, entries, Int32(pixels.colours.count), Int32(pixels.depth), level,
        isFlat ? 0 : 1, &buffer, message)
    }
    return Encoded(
      bytes: bytes, format: .png, size: raster.size, detail: "PNG, \(pixels.name)")
  }

  private static func write(
    _ planes: [Plane], of raster: Raster,
    _ body: (inout codec_raster, inout codec_buffer, UnsafeMutablePointer<CChar>) -> Int32
  ) throws(ImagingError) -> [UInt8] {
    var description = codec_raster()
    description.width = Int32(raster.size.width)
    description.height = Int32(raster.size.height)
    description.channels = raster.model == .ycc ? 3 : Int32(planes[0].channels)
    description.planar = raster.model == .ycc ? 1 : 0
    var buffer = codec_buffer()
    defer { codec_free(&buffer) }
    let failure = ImagingError(.unreachable, "The picture cannot be encoded.")
    _ = try callCodec(or: failure) { message in
      planes.withPointers { pointers in
        for (index, pointer) in pointers.enumerated() {
          withUnsafeMutableBytes(of: &description.planes) {
            $0.bindMemory(to: UnsafePointer<UInt8>?.self)[index] = pointer
          }
          withUnsafeMutableBytes(of: &description.strides) {
            $0.bindMemory(to: Int.self)[index] = planes[index].stride
          }
        }
        return succeeded(body(&description, &buffer, message))
      }
    }
    return Array(UnsafeBufferPointer(start: buffer.bytes, count: buffer.size))
  }
}

/// Pixels as a PNG stores them: samples, or indexes of a palette's colours.
struct PNGPixels {
  let plane: Plane
  /// The colours, when the pixels are indexes.
  let colours: [SIMD4<UInt8>]
  /// Bits of a sample or index: 1, 2, 4 or 8.
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

  /// The pixels of a palette, as grey samples when these take no more bits.
  init(_ palette: Palette) {
    if let greyDepth = palette.greyDepth, greyDepth <= palette.depth {
      let step = UInt8(255 / (1 << greyDepth - 1))
      self.init(plane: palette.mapped { $0.x / step }, colours: [], depth: greyDepth)
    } else {
      self.init(plane: palette.indexes, colours: palette.colours, depth: palette.depth)
    }
  }

  /// Their kind, in a few words.
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
  /// The bits of an index.
  fileprivate var depth: Int { [1, 2, 4].first { colours.count <= 1 << $0 } ?? 8 }

  /// The bits of grey samples with exactly these colours; nil when not all are opaque greys.
  fileprivate var greyDepth: Int? {
    guard colours.allSatisfy({ $0.x == $0.y && $0.x == $0.z && $0.w == 255 }) else { return nil }
    return [1, 2, 4].first { depth in
      colours.allSatisfy { Int($0.x) % (255 / (1 << depth - 1)) == 0 }
    } ?? 8
  }

  /// A plane with a sample of each pixel's colour.
  fileprivate func mapped(_ sample: (SIMD4<UInt8>) -> UInt8) -> Plane {
    let values = colours.map(sample)
    var result = indexes
    for index in result.samples.indices {
      result.samples[index] = values[Int(result.samples[index])]
    }
    return result
  }
}

/// A picture that a program draws itself: RGBA pixels, not premultiplied.
package struct Canvas: Sendable {
  private var plane: Plane

  /// A transparent canvas; both edges are at least 1.
  package init(_ size: PixelSize) { plane = Plane(size, channels: 4) }

  /// Sets the red, green, blue and alpha of a pixel, each from 0 to 255.
  package mutating func set(x: Int, y: Int, to colour: SIMD4<UInt8>) {
    let place = y * plane.stride + x * 4
    for channel in 0..<4 { plane.samples[place + channel] = colour[channel] }
  }

  /// The canvas as a PNG file.
  package func png() throws(ImagingError) -> [UInt8] { try Encoder.png(Raster(plane)).bytes }
}
