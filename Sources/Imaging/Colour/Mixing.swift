import CCodecs

/// Planes of full size, mixed into interleaved samples.
enum Mixing {
  /// RGB of YCbCr and RGB planes, CMYK of YCCK and CMYK ones, grey as it is.
  static func interleaved(_ planes: [Plane], model: ColourModel) -> Plane {
    guard planes.count > 1 else { return planes[0] }
    var result = Plane(planes[0].size, channels: planes.count)
    let stride = result.stride
    let width = Int32(result.size.width)
    result.samples.withUnsafeMutableBufferPointer { samples in
      guard let target = samples.baseAddress else { return }
      withPointers(to: planes[...], []) { pointers in
        for y in 0..<planes[0].size.height {
          let rows = zip(pointers, planes).map { Optional($0 + y * $1.stride) }
          codec_mix(rows, Int32(planes.count), Int32(model.code), target + y * stride, width)
        }
      }
    }
    return result
  }

  /// RGB of CMYK that has no profile.
  static func rgb(ofInks inks: Plane, isInverted: Bool) -> Plane {
    var result = Plane(inks.size, channels: 3)
    let stride = result.stride
    result.samples.withUnsafeMutableBufferPointer { samples in
      inks.samples.withUnsafeBufferPointer { source in
        guard let target = samples.baseAddress, let from = source.baseAddress else { return }
        for y in 0..<inks.size.height {
          codec_inks_to_rgb(
            from + y * inks.stride, isInverted ? 1 : 0, target + y * stride, Int32(inks.size.width))
        }
      }
    }
    return result
  }

  private static func withPointers(
    to planes: ArraySlice<Plane>, _ pointers: [UnsafePointer<UInt8>],
    _ body: ([UnsafePointer<UInt8>]) -> Void
  ) {
    guard let plane = planes.first else { return body(pointers) }
    plane.samples.withUnsafeBufferPointer { samples in
      guard let base = samples.baseAddress else { return }
      withPointers(to: planes.dropFirst(), pointers + [base], body)
    }
  }
}
