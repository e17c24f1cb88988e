import MediaTypes

/// Encodes a raster within a number of bytes, in at most eight attempts.
struct SizeLimitedEncoder {
  /// The most bytes; nil for no limit.
  private let limit: Int?
  private(set) var encodes = 0

  init(_ limit: Int?) {
    self.limit = limit
  }

  /// JPEG: with a lower quality that depends on the excess, then with fewer pixels.
  mutating func jpeg(_ raster: Raster) throws(ImagingError) -> Encoded {
    let encoded = try encode(raster) { raster throws(ImagingError) in try Encoder.jpeg(raster) }
    return try fits(encoded) ? encoded : smaller(encoded, of: raster)
  }

  /// PNG: with all colours, then 256, then a JPEG when nothing is transparent and it helps, then with
  /// fewer pixels.
  mutating func png(_ raster: Raster) throws(ImagingError) -> Encoded {
    var encoded = try encode(raster, Encoder.png)
    if fits(encoded) { return encoded }
    if raster.model != .grey { encoded = try encode(raster, Encoder.palettePNG) }
    if fits(encoded) { return encoded }
    if raster.model != .rgba {
      let jpeg = try encode(raster) { raster throws(ImagingError) in try Encoder.jpeg(raster) }
      if fits(jpeg) { return jpeg }
      if jpeg.bytes.count < encoded.bytes.count { return try smaller(jpeg, of: raster) }
    }
    return try shrinking(raster, Encoder.palettePNG)
  }

  /// A JPEG that is too large, with a lower quality and then with fewer pixels.
  private mutating func smaller(
    _ encoded: Encoded, of raster: Raster
  ) throws(ImagingError) -> Encoded {
    let ratio = Double(limit ?? 0) / Double(encoded.bytes.count)
    let quality = ratio > 0.8 ? 72 : ratio > 0.6 ? 60 : 48
    return try shrinking(raster) { raster throws(ImagingError) in
      try Encoder.jpeg(raster, quality: quality)
    }
  }

  private func fits(_ encoded: Encoded) -> Bool { limit.map { encoded.bytes.count <= $0 } ?? true }

  private mutating func shrinking(
    _ raster: Raster, _ encoder: (Raster) throws(ImagingError) -> Encoded
  ) throws(ImagingError) -> Encoded {
    var encoded = try encode(raster, encoder)
    for attempt in 0..<4 {
      guard let limit, encoded.bytes.count > limit else { return encoded }
      let ratio = Double(limit) / Double(encoded.bytes.count)
      // Bytes depend on the area, or for flat pictures on the length of edges.
      let factor = min(0.9, (attempt < 2 ? ratio.squareRoot() : ratio) * 0.95)
      let size = PixelSize(
        max(1, Int(Double(encoded.size.width) * factor)),
        max(1, Int(Double(encoded.size.height) * factor)))
      encoded = try encode(raster.shrunk(to: size), encoder)
    }
    guard let limit, encoded.bytes.count > limit else { return encoded }
    throw ImagingError(
      .unreachable,
      "The picture cannot be made as small as \(limit) bytes; \(encoded.size) pixels take "
        + "\(encoded.bytes.count).")
  }

  private mutating func encode(
    _ raster: Raster, _ encoder: (Raster) throws(ImagingError) -> Encoded
  ) throws(ImagingError) -> Encoded {
    encodes += 1
    return try encoder(raster)
  }
}
