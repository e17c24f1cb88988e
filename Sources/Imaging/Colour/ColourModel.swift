import CCodecs

/// What the samples of a picture mean.
package enum ColourModel: Sendable {
  case grey, rgb, rgba, ycc, cmyk, ycck

  init(jpeg info: codec_jpeg_info) {
    switch Int(info.colour) {
    case CODEC_GREY: self = .grey
    case CODEC_RGB: self = .rgb
    case CODEC_CMYK: self = .cmyk
    case CODEC_YCCK: self = .ycck
    default: self = info.components == 1 ? .grey : info.components == 4 ? .cmyk : .ycc
    }
  }

  /// The word for it in facts and explanations.
  package var name: String {
    switch self {
    case .grey: "grey"
    case .rgb: "RGB"
    case .rgba: "RGBA"
    case .ycc: "YCbCr"
    case .cmyk: "CMYK"
    case .ycck: "YCCK"
    }
  }

  /// Samples of a pixel.
  var channels: Int {
    switch self {
    case .grey: 1
    case .rgb, .ycc: 3
    case .rgba, .cmyk, .ycck: 4
    }
  }

  /// Whether four samples are inks.
  var isInks: Bool { self == .cmyk || self == .ycck }

  /// The number C knows it by.
  var code: Int {
    switch self {
    case .grey: CODEC_GREY
    case .rgb, .rgba: CODEC_RGB
    case .ycc: CODEC_YCC
    case .cmyk: CODEC_CMYK
    case .ycck: CODEC_YCCK
    }
  }
}
