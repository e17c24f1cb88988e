/// A format that pictures are encoded in.
package enum PictureFormat: String, Sendable, CaseIterable {
  case jpeg = "image/jpeg"
  case png = "image/png"

  /// The media type of such files.
  package var mediaType: String { rawValue }

  /// Whether transparent pixels stay so.
  var keepsTransparency: Bool {
    switch self {
    case .jpeg: false
    case .png: true
    }
  }

  /// The format of a picture for which this one takes too many bytes; nil if no other takes fewer.
  var substitute: PictureFormat? {
    switch self {
    case .jpeg: nil
    case .png: .jpeg
    }
  }

  /// Encodes a raster as well as it is worth.
  func encode(_ raster: Raster) throws(ImagingError) -> Encoded {
    switch self {
    case .jpeg: try Encoder.jpeg(raster)
    case .png: try Encoder.png(raster)
    }
  }

  /// Encodes it with more loss, where only this share of the bytes of ``encode(_:)`` is allowed.
  func encode(_ raster: Raster, share: Double) throws(ImagingError) -> Encoded {
    switch self {
    case .jpeg: try Encoder.jpeg(raster, quality: share > 0.8 ? 72 : share > 0.6 ? 60 : 48)
    case .png: try Encoder.palettePNG(raster)
    }
  }

  /// Whether a raster can be encoded with more loss.
  func canLoseMore(of raster: Raster) -> Bool {
    switch self {
    case .jpeg: true
    case .png: raster.model != .grey
    }
  }
}
