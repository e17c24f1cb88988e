import CCodecs

/// Compressed pixels.
struct Encoded {
  let bytes: [UInt8]
  let mediaType: String
  let size: PixelSize
  /// How, in a few words.
  let detail: String
}

/// Turns rasters into files without metadata.
enum Encoder {
  /// Below so many pixels the Huffman tables are fitted: of a thumbnail that takes a tenth of a millisecond and
  /// saves a tenth of the bytes; of larger pictures it takes as long as all the rest and saves a fiftieth.
  private static let thumbnailPixels = 40_000

  /// The quality of a JPEG where nothing asks for less.
  static let quality = 82

  /// Baseline JPEG, 4:2:0, of the usual quality.
  static func jpeg(_ raster: Raster) throws(ImagingError) -> Encoded {
    try jpeg(raster, quality: quality)
  }

  /// Baseline JPEG, 4:2:0.
  static func jpeg(_ raster: Raster, quality: Int) throws(ImagingError) -> Encoded {
    var planes = raster.planes
    if raster.model == .ycc { for index in planes.indices { planes[index].padRows() } }
    let isSmall = raster.size.pixels <= thumbnailPixels
    let bytes = try write(planes, of: raster) { description, buffer, message in
      codec_jpeg_write(&description, Int32(quality), isSmall ? 1 : 0, &buffer, message)
    }
    return Encoded(
      bytes: bytes, mediaType: "image/jpeg", size: raster.size, detail: "JPEG, quality \(quality)")
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
    let areNumbers = pixels.depth < 8 || !pixels.colours.isEmpty
    let isFlat = areNumbers || raster.flatness > 0.4  // filters help photographs and hurt drawings
    let level: Int32 = isFlat ? (pixels.plane.channels == 1 ? 6 : 3) : 2
    let bytes = try write([pixels.plane], of: raster) { description, buffer, message in
      codec_png_write(
        &description, entries, Int32(pixels.colours.count), Int32(pixels.depth), level,
        isFlat ? 0 : 1, &buffer, message)
    }
    return Encoded(
      bytes: bytes, mediaType: "image/png", size: raster.size, detail: "PNG, \(pixels.name)")
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
    do {
      _ = try CodecMessage.of { message in
        description.aim(at: planes[...]) { succeeded(body(&$0, &buffer, message)) }
      }
    } catch {
      throw ImagingError(.unreachable, "The picture cannot be encoded.", detail: error.text)
    }
    return Array(UnsafeBufferPointer(start: buffer.bytes, count: buffer.size))
  }
}

extension codec_raster {
  /// Runs `body` while the planes' bytes stay where they are.
  fileprivate mutating func aim<Result>(
    at planes: ArraySlice<Plane>, _ body: (inout codec_raster) -> Result
  ) -> Result {
    guard let plane = planes.first else { return body(&self) }
    let index = planes.startIndex
    return plane.samples.withUnsafeBufferPointer { samples in
      withUnsafeMutableBytes(of: &self.planes) {
        $0.bindMemory(to: UnsafePointer<UInt8>?.self)[index] = samples.baseAddress
      }
      withUnsafeMutableBytes(of: &strides) { $0.bindMemory(to: Int.self)[index] = plane.stride }
      return aim(at: planes.dropFirst(), body)
    }
  }
}
