import MediaTypes

/// Encodes a raster within a number of bytes, in at most eight attempts.
struct SizeLimitedEncoder {
  /// The most bytes; nil for no limit.
  private let limit: Int?
  private(set) var encodes = 0

  init(_ limit: Int?) {
    self.limit = limit
  }

  /// Encodes as well as the format can, then with more loss, then in the format's substitute if that helps, then with
  /// fewer pixels.
  mutating func encode(
    _ raster: Raster, as format: PictureFormat
  ) throws(ImagingError) -> Encoded {
    let encoded = try attempt(raster, format.encode)
    guard let limit, encoded.bytes.count > limit else { return encoded }
    return try smaller(encoded, of: raster, as: format, limit)
  }

  private mutating func smaller(
    _ best: Encoded, of raster: Raster, as format: PictureFormat, _ limit: Int
  ) throws(ImagingError) -> Encoded {
    let share = Double(limit) / Double(best.bytes.count)
    let reduce = { (raster: Raster) throws(ImagingError) in
      try format.encode(raster, share: share)
    }
    let reduced = format.canLoseMore(of: raster) ? try attempt(raster, reduce) : best
    if reduced.bytes.count <= limit { return reduced }
    if let other = format.substitute, raster.model != .rgba || other.keepsTransparency {
      let encoded = try attempt(raster, other.encode)
      if encoded.bytes.count <= limit { return encoded }
      if encoded.bytes.count < reduced.bytes.count {
        return try smaller(encoded, of: raster, as: other, limit)
      }
    }
    return try shrinking(reduced, of: raster, limit, reduce)
  }

  private mutating func shrinking(
    _ reduced: Encoded, of raster: Raster, _ limit: Int,
    _ encoder: (Raster) throws(ImagingError) -> Encoded
  ) throws(ImagingError) -> Encoded {
    var encoded = reduced
    for attempt in 0..<4 {
      let ratio = Double(limit) / Double(encoded.bytes.count)
      // Bytes depend on the area, or for flat pictures on the length of edges.
      let factor = min(0.9, (attempt < 2 ? ratio.squareRoot() : ratio) * 0.95)
      let size = PixelSize(
        max(1, Int(Double(encoded.size.width) * factor)),
        max(1, Int(Double(encoded.size.height) * factor)))
      encoded = try self.attempt(raster.shrunk(to: size), encoder)
      if encoded.bytes.count <= limit { return encoded }
    }
    throw ImagingError(
      .unreachable,
      "The picture cannot be made as small as \(limit) bytes; \(encoded.size) pixels take "
        + "\(encoded.bytes.count).")
  }

  private mutating func attempt(
    _ raster: Raster, _ encoder: (Raster) throws(ImagingError) -> Encoded
  ) throws(ImagingError) -> Encoded {
    encodes += 1
    return try encoder(raster)
  }
}
