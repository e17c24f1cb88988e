import CCodecs
import MediaTypes

/// A transform from a colour space to sRGB, by LittleCMS.
final class ColourTransform {
  private let pixels: codec_pixels
  private let handle: OpaquePointer

  /// Nil when nothing needs to be converted: sRGB, a profile that is damaged or not for such pixels, or
  /// one that changes no colour visibly.
  init?(
    _ space: ColourSpace, channels: Int, areInks: Bool = false, isSixteen: Bool = false
  ) {
    var description = codec_pixels(
      channels: Int32(channels), inks: areInks ? 1 : 0, sixteen: isSixteen ? 1 : 0)
    pixels = description
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
    if isIdentity { return nil }
  }

  deinit { codec_colour_close(handle) }

  /// Samples of a converted pixel.
  var outputChannels: Int { pixels.channels == 4 && pixels.inks == 0 ? 4 : 3 }

  func apply(_ from: UnsafeRawPointer, to: UnsafeMutablePointer<UInt8>, count: Int) {
    codec_colour_apply(handle, from, to, count)
  }

  /// The plane in sRGB; grey stays grey.
  func applied(to plane: Plane) -> Plane {
    let result = plane.mapRows(channels: outputChannels) { from, to in
      apply(from, to: to, count: plane.size.width)
    }
    return plane.channels == 1 ? result.keeping([0]) : result
  }

  /// Whether a grid of colours is not changed by more than rounding.
  private var isIdentity: Bool {
    guard pixels.inks == 0, pixels.sixteen == 0 else { return false }
    let channels = Int(pixels.channels)
    let levels: [UInt8] = [0, 16, 48, 96, 144, 192, 224, 255]
    let grid =
      channels == 1
      ? levels
      : levels.flatMap { red in
        levels.flatMap { green in
          levels.flatMap { [red, green, $0] + (channels == 4 ? [255] : []) }
        }
      }
    let count = grid.count / channels
    var result = [UInt8](repeating: 0, count: count * outputChannels)
    apply(grid, to: &result, count: count)
    return (0..<count).allSatisfy { index in
      (0..<3).allSatisfy { c in
        let before = grid[index * channels + (channels == 1 ? 0 : c)]
        return abs(Int(before) - Int(result[index * outputChannels + c])) <= 2
      }
    }
  }
}

/// Converts the colour models of JPEG.
enum Mixing {
  /// Interleaves planes of full size: YCbCr and RGB as RGB, YCCK and CMYK as CMYK, grey as it is.
  static func interleaved(_ planes: [Plane], model: ColourModel) -> Plane {
    guard planes.count > 1 else { return planes[0] }
    let size = planes[0].size
    return planes.withPointers { pointers in
      Plane(size, channels: planes.count) { y, row in
        let rows = zip(pointers, planes).map { Optional($0 + y * $1.stride) }
        codec_mix(rows, Int32(planes.count), model.code, row, Int32(size.width))
      }
    }
  }

  /// RGB of CMYK that has no profile.
  static func rgb(ofInks inks: Plane) -> Plane {
    inks.mapRows(channels: 3) { from, to in
      codec_inks_to_rgb(from, to, Int32(inks.size.width))
    }
  }
}
