/// Finds an encoding below a number of bytes, in at most eight encodes.
struct ByteCeiling {
  /// The most bytes allowed; nil when it does not matter.
  private let limit: Int?
  private(set) var encodes = 0

  init(_ limit: Int?) {
    self.limit = limit
  }

  /// JPEG: lower quality by how much too large it is, then smaller pictures.
  mutating func jpeg(_ raster: Raster) throws(ImagingError) -> Encoded {
    let encoded = try encode(raster) { raster throws(ImagingError) in
      try Encoder.jpeg(raster, quality: 82)
    }
    guard let limit, encoded.bytes.count > limit else { return encoded }
    let ratio = Double(limit) / Double(encoded.bytes.count)
    let quality = ratio > 0.8 ? 72 : ratio > 0.6 ? 60 : 48
    return try shrinking(raster) { raster throws(ImagingError) in
      try Encoder.jpeg(raster, quality: quality)
    }
  }

  /// PNG: all colours, then 256, then a JPEG when nothing is transparent, then smaller pictures.
  mutating func png(_ raster: Raster) throws(ImagingError) -> Encoded {
    let exact = try encode(raster, Encoder.png)
    guard let limit, exact.bytes.count > limit, raster.model != .grey else {
      return try fits(exact) ? exact : shrinking(raster, Encoder.png)
    }
    let reduced = try encode(raster, Encoder.palettePNG)
    if fits(reduced) { return reduced }
    guard raster.model == .rgba else { return try jpeg(raster) }
    return try shrinking(raster, Encoder.palettePNG)
  }

  private func fits(_ encoded: Encoded) -> Bool { limit.map { encoded.bytes.count <= $0 } ?? true }

  private mutating func shrinking(
    _ raster: Raster, _ encoder: (Raster) throws(ImagingError) -> Encoded
  ) throws(ImagingError) -> Encoded {
    var encoded = try encode(raster, encoder)
    for _ in 0..<4 {
      guard let limit, encoded.bytes.count > limit else { return encoded }
      let ratio = Double(limit) / Double(encoded.bytes.count)
      let factor = min(0.9, ratio.squareRoot() * 0.95)
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
