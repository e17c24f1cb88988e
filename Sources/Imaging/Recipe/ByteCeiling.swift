/// Finds an encoding below a number of bytes, in a bounded number of encodes.
struct ByteCeiling {
  /// The most bytes allowed; nil when it does not matter.
  let bytes: Int?
  private(set) var encodes = 0

  init(_ bytes: Int?) {
    self.bytes = bytes
  }

  private func holds(_ encoded: Encoded) -> Bool { bytes.map { encoded.bytes.count <= $0 } ?? true }

  /// JPEG: one lower quality, then smaller pictures, six encodes at most.
  mutating func jpeg(_ raster: Raster) throws(ImagingError) -> Encoded {
    var encoded = try encode { () throws(ImagingError) in try Encoder.jpeg(raster, quality: 82) }
    guard let bytes, !holds(encoded) else { return encoded }
    let ratio = Double(bytes) / Double(encoded.bytes.count)
    let quality = ratio > 0.8 ? 72 : ratio > 0.6 ? 60 : 48
    encoded = try encode { () throws(ImagingError) in try Encoder.jpeg(raster, quality: quality) }
    return try shrinking(encoded, raster) { smaller throws(ImagingError) in
      try Encoder.jpeg(smaller, quality: quality)
    }
  }

  /// PNG, then smaller ones.
  mutating func png(_ raster: Raster) throws(ImagingError) -> Encoded {
    let encoded = try encode { () throws(ImagingError) in try Encoder.png(raster) }
    return try shrinking(encoded, raster, Encoder.png)
  }

  private mutating func shrinking(
    _ first: Encoded, _ raster: Raster,
    _ body: (Raster) throws(ImagingError) -> Encoded
  ) throws(ImagingError) -> Encoded {
    var encoded = first
    for _ in 0..<4 {
      guard let bytes, !holds(encoded) else { return encoded }
      let factor = min(0.9, (Double(bytes) / Double(encoded.bytes.count)).squareRoot() * 0.95)
      let size = PixelSize(
        max(1, Int(Double(encoded.size.width) * factor)),
        max(1, Int(Double(encoded.size.height) * factor)))
      encoded = try encode { () throws(ImagingError) in try body(raster.shrunk(to: size)) }
    }
    guard let bytes, !holds(encoded) else { return encoded }
    throw ImagingError(
      .unreachable,
      "The picture cannot be made as small as \(bytes) bytes; \(encoded.size) pixels take "
        + "\(encoded.bytes.count).")
  }

  private mutating func encode(_ body: () throws(ImagingError) -> Encoded) throws(ImagingError)
    -> Encoded
  {
    encodes += 1
    return try body()
  }
}
