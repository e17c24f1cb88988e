extension Plane {
  /// Some of the channels, by their places.
  func keeping(_ kept: [Int]) -> Plane {
    var result = Plane(size, channels: kept.count)
    samples.withUnsafeBufferPointer { from in
      result.samples.withUnsafeMutableBufferPointer { to in
        for y in 0..<size.height {
          for (place, channel) in kept.enumerated() {
            var source = y * stride + channel
            var target = y * result.stride + place
            for _ in 0..<size.width {
              to[target] = from[source]
              source &+= channels
              target &+= kept.count
            }
          }
        }
      }
    }
    return result
  }

  /// Whether red, green and blue are the same everywhere.
  var isNeutral: Bool {
    allPixels { $0[$1] == $0[$1 + 1] && $0[$1] == $0[$1 + 2] }
  }

  /// Whether the alpha of RGBA hides nothing.
  var isOpaque: Bool { allPixels { $0[$1 + 3] == 255 } }

  /// Whether something holds for all pixels: of all samples and the place of the pixel's first one.
  private func allPixels(_ holds: (UnsafeBufferPointer<UInt8>, Int) -> Bool) -> Bool {
    samples.withUnsafeBufferPointer { samples in
      (0..<size.height).allSatisfy { y in
        Swift.stride(from: y * stride, to: y * stride + rowBytes, by: channels)
          .allSatisfy { holds(samples, $0) }
      }
    }
  }
}
