import CCodecs

/// Samples of some colour space to sRGB, by LittleCMS.
final class ColourTransform {
  /// What goes in.
  struct Pixels {
    let channels: Int
    var areInks = false
    var isInverted = false
    var isSixteen = false
  }

  private let pixels: Pixels
  private let handle: OpaquePointer

  /// Nil when nothing has to be done: sRGB, a profile that is broken or not for such pixels, or one that
  /// changes no colour visibly.
  init?(_ space: ColourSpace, _ pixels: Pixels) {
    var description = codec_pixels(
      channels: Int32(pixels.channels), inks: pixels.areInks ? 1 : 0,
      inverted: pixels.isInverted ? 1 : 0, sixteen: pixels.isSixteen ? 1 : 0)
    let handle: OpaquePointer?
    switch space {
    case .standard: return nil
    case .profile(let bytes): handle = codec_colour_of_profile(bytes, bytes.count, &description)
    case .curve(let curve, let chromaticities):
      handle = codec_colour_of_curve(
        curve.values, curve.table, curve.table.count, chromaticities, &description)
    }
    guard let handle else { return nil }
    self.handle = handle
    self.pixels = pixels
    if isIdentity { return nil }
  }

  deinit { codec_colour_close(handle) }

  /// Samples of a pixel that comes out.
  var outputChannels: Int { pixels.channels == 4 && !pixels.areInks ? 4 : 3 }

  func apply(_ from: UnsafeRawPointer, to: UnsafeMutablePointer<UInt8>, count: Int) {
    codec_colour_apply(handle, from, to, count)
  }

  /// The plane in sRGB; grey stays grey.
  func applied(to plane: Plane) -> Plane {
    var result = Plane(plane.size, channels: outputChannels)
    let stride = result.stride
    result.samples.withUnsafeMutableBufferPointer { samples in
      plane.samples.withUnsafeBufferPointer { source in
        guard let target = samples.baseAddress, let from = source.baseAddress else { return }
        for y in 0..<plane.size.height {
          apply(from + y * plane.stride, to: target + y * stride, count: plane.size.width)
        }
      }
    }
    return plane.channels == 1 ? result.keeping([0]) : result
  }

  /// Whether a grid of colours comes out as it went in.
  private var isIdentity: Bool {
    guard !pixels.areInks, !pixels.isSixteen else { return false }
    let levels: [UInt8] = [0, 16, 48, 96, 144, 192, 224, 255]
    let grid =
      pixels.channels == 1
      ? levels
      : levels.flatMap { red in
        levels.flatMap { green in
          levels.flatMap { [red, green, $0] + (pixels.channels == 4 ? [255] : []) }
        }
      }
    let count = grid.count / pixels.channels
    var result = [UInt8](repeating: 0, count: count * outputChannels)
    apply(grid, to: &result, count: count)
    return (0..<count).allSatisfy { index in
      (0..<3).allSatisfy { c in
        let before = grid[index * pixels.channels + (pixels.channels == 1 ? 0 : c)]
        return abs(Int(before) - Int(result[index * outputChannels + c])) <= 2
      }
    }
  }
}
