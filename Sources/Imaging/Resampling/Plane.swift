import CCodecs

/// Rows of 8-bit samples, one or more interleaved channels, each row padded to whole JPEG blocks.
struct Plane: Sendable {
  let size: PixelSize
  let channels: Int
  /// Bytes from one row to the next.
  let stride: Int
  var samples: [UInt8]

  init(_ size: PixelSize, channels: Int) {
    self.size = size
    self.channels = channels
    stride = (size.width * channels + 15) & ~15
    samples = [UInt8](repeating: 0, count: stride * size.height)
  }

  /// Bytes of a row without the padding.
  var rowBytes: Int { size.width * channels }

  /// Turns stored pixels into upright ones.
  func turned(_ orientation: Orientation) -> Plane {
    guard orientation != .upright else { return self }
    var result = Plane(orientation.applied(to: size), channels: channels)
    let right = orientation.readsFromRight
    let below = orientation.readsFromBelow
    let across = right ? -channels : channels
    let down = below ? -stride : stride
    let origin = (right ? rowBytes - channels : 0) + (below ? (size.height - 1) * stride : 0)
    let (alongRow, alongColumn) = orientation.isTransposing ? (down, across) : (across, down)
    samples.withUnsafeBufferPointer { from in
      result.samples.withUnsafeMutableBufferPointer { to in
        for y in 0..<result.size.height {
          var source = origin + y * alongColumn
          var target = y * result.stride
          for _ in 0..<result.size.width {
            for c in 0..<channels { to[target &+ c] = from[source &+ c] }
            source &+= alongRow
            target &+= channels
          }
        }
      }
    }
    return result
  }

  /// Repeats the last pixel of each row in its padding, so that blocks do not blur into nothing.
  mutating func padRows() {
    guard channels == 1, stride > rowBytes else { return }
    for y in 0..<size.height {
      let end = y * stride + rowBytes
      let last = samples[end - 1]
      for x in end..<(y + 1) * stride { samples[x] = last }
    }
  }
}
