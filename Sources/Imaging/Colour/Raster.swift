import CCodecs
import MediaTypes

/// A decoded and resampled picture: Y with half-size Cb and Cr in three planes, or interleaved samples in one.
struct Raster: Sendable {
  let planes: [Plane]
  /// What the samples mean: `ycc` when there are three planes, else grey, RGB or RGBA.
  let model: ColourModel
}

extension Raster {
  /// Grey, RGB or RGBA samples.
  init(_ plane: Plane) {
    self.init(planes: [plane], model: ColourModel(channels: plane.channels))
  }

  var size: PixelSize { planes[0].size }

  /// The same picture at another size, not larger.
  func shrunk(to size: PixelSize) -> Raster {
    let resized = planes.enumerated().map { index, plane in
      // A chroma plane has half as many samples, odd edges rounded up.
      let target = index == 0 ? size : PixelSize((size.width + 1) / 2, (size.height + 1) / 2)
      return plane.shrunk(
        to: target, across: Double(self.size.width) / Double(size.width),
        down: Double(self.size.height) / Double(size.height))
    }
    return Raster(planes: resized, model: model)
  }

  /// The fraction of pixels that equal the one to their left: high in drawings and screenshots.
  var flatness: Double {
    let plane = planes[0]
    let channels = plane.channels
    var equal = 0
    var seen = 0
    for y in stride(from: 0, to: size.height, by: max(1, size.height / 64)) {
      let row = y * plane.stride
      for x in 1..<max(1, size.width) {
        let pixel = row + x * channels
        seen += 1
        if (0..<channels).allSatisfy({
          plane.samples[pixel + $0] == plane.samples[pixel - channels + $0]
        }) {
          equal += 1
        }
      }
    }
    return seen == 0 ? 1 : Double(equal) / Double(seen)
  }

  /// The same without an alpha channel when all is opaque, and without colours when all is grey.
  var withoutUnusedChannels: Raster {
    let plane = planes[0]
    guard model == .rgb || model == .rgba && plane.isOpaque else { return self }
    if plane.isNeutral { return Raster(plane.keeping([0])) }
    return model == .rgb ? self : Raster(plane.keeping([0, 1, 2]))
  }
}

extension Plane {
  /// Resamples the plane.
  func shrunk(to target: PixelSize, across: Double, down: Double) -> Plane {
    let resampler = PlaneResampler(
      size, channels: channels, isPremultiplied: channels == 4,
      columns: Weights(
        target.width, from: size.width, origin: 0, step: across, multiple: channels == 1 ? 8 : 2),
      rows: Weights(target.height, from: size.height, origin: 0, step: down, multiple: 1))
    samples.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      for y in 0..<size.height {
        resampler.slot.update(from: base + y * stride, count: rowBytes)
        if channels == 4 { codec_premultiply(resampler.slot, size.width) }
        resampler.receive(1)
      }
    }
    return resampler.plane
  }
}

/// What the samples of a picture mean.
package enum ColourModel: String, Sendable {
  case grey = "grey"
  case rgb = "RGB"
  case rgba = "RGBA"
  case ycc = "YCbCr"
  case cmyk = "CMYK"
  case ycck = "YCCK"

  /// Of decoded samples that are no inks.
  init(channels: Int) { self = channels == 4 ? .rgba : channels == 3 ? .rgb : .grey }

  /// By libjpeg's number of the colour space, or else the number of components.
  init(jpeg info: codec_jpeg_info) {
    let known = Self.numbers.first { $1 == info.colour }?.key
    self = known ?? (info.components == 1 ? .grey : info.components == 4 ? .cmyk : .ycc)
  }

  /// The numbers of libjpeg's colour spaces.
  private static let numbers: KeyValuePairs<ColourModel, Int32> = [
    .grey: Int32(CODEC_GREY), .rgb: Int32(CODEC_RGB), .ycc: Int32(CODEC_YCC),
    .cmyk: Int32(CODEC_CMYK), .ycck: Int32(CODEC_YCCK),
  ]

  /// The word for it in facts and explanations.
  package var name: String { rawValue }

  /// Samples of a pixel.
  var channels: Int { self == .grey ? 1 : self == .rgb || self == .ycc ? 3 : 4 }

  /// Whether four samples are inks.
  var isInks: Bool { self == .cmyk || self == .ycck }

  /// Its number in CCodecs.
  var code: Int32 { Self.numbers.first { $0.key == self }?.value ?? Int32(CODEC_RGB) }
}
