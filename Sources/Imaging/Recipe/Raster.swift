import CCodecs

/// A shrunk picture: Y with half-size Cb and Cr in three planes, or interleaved samples in one.
struct Raster: Sendable {
  let planes: [Plane]
  /// What the samples mean: `ycc` when there are three planes, else grey, RGB or RGBA.
  let model: ColourModel

  var size: PixelSize { planes[0].size }

  /// The same picture at another size, not larger.
  func shrunk(to size: PixelSize) -> Raster {
    let resized = planes.enumerated().map { index, plane in
      let target = index == 0 ? size : size.halved
      return plane.shrunk(
        to: target, across: Double(self.size.width) / Double(size.width),
        down: Double(self.size.height) / Double(size.height))
    }
    return Raster(planes: resized, model: model)
  }

  /// The fraction of pixels that look like the one to their left: high in drawings and screens.
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

  /// The same without an alpha channel that hides nothing, and without colours where all is grey.
  var withoutIdleChannels: Raster {
    let plane = planes[0]
    guard model == .rgb || model == .rgba && plane.isOpaque else { return self }
    if plane.isNeutral { return Raster(planes: [plane.keeping([0])], model: .grey) }
    return model == .rgb ? self : Raster(planes: [plane.keeping([0, 1, 2])], model: .rgb)
  }
}

extension PixelSize {
  /// The size of a chroma plane with half as many samples, odd edges rounded up.
  var halved: PixelSize { PixelSize((width + 1) / 2, (height + 1) / 2) }
}

extension Plane {
  /// Feeds the rows of a plane that is there to a resampler.
  func shrunk(to target: PixelSize, across: Double, down: Double) -> Plane {
    let resampler = PlaneResampler(
      PlaneResampler.Input(
        size: size, channels: channels, rowBytes: rowBytes, band: 1,
        isPremultiplied: channels == 4),
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
