import CCodecs
import MediaTypes

/// Rows of 8-bit samples of one or more interleaved channels, each row padded to whole JPEG blocks.
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

  /// A plane whose rows are written by `row`.
  init(
    _ size: PixelSize, channels: Int,
    _ row: (_ y: Int, _ samples: UnsafeMutablePointer<UInt8>) -> Void
  ) {
    self.init(size, channels: channels)
    let stride = stride
    samples.withUnsafeMutableBufferPointer { samples in
      guard let start = samples.baseAddress else { return }
      for y in 0..<size.height { row(y, start + y * stride) }
    }
  }

  /// Bytes of a row without the padding.
  var rowBytes: Int { size.width * channels }

  /// A plane of the same size whose rows are made from the rows of this one.
  func mapRows(
    channels: Int, _ body: (UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>) -> Void
  ) -> Plane {
    samples.withUnsafeBufferPointer { samples in
      Plane(size, channels: channels) { y, row in
        if let start = samples.baseAddress { body(start + y * stride, row) }
      }
    }
  }

  /// The upright pixels of stored ones.
  func turned(_ orientation: Orientation) -> Plane {
    guard orientation != .upright else { return self }
    let right = orientation.readsFromRight
    let below = orientation.readsFromBelow
    let across = right ? -channels : channels
    let down = below ? -stride : stride
    let origin = (right ? rowBytes - channels : 0) + (below ? (size.height - 1) * stride : 0)
    let (alongRow, alongColumn) = orientation.isTransposing ? (down, across) : (across, down)
    let upright = orientation.applied(to: size)
    return samples.withUnsafeBufferPointer { from in
      Plane(upright, channels: channels) { y, to in
        var source = origin + y * alongColumn
        var target = 0
        for _ in 0..<upright.width {
          for c in 0..<channels { to[target &+ c] = from[source &+ c] }
          source &+= alongRow
          target &+= channels
        }
      }
    }
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

  /// Some of the channels, by their numbers.
  func keeping(_ kept: [Int]) -> Plane {
    mapRows(channels: kept.count) { from, to in
      for (place, channel) in kept.enumerated() {
        var source = channel
        var target = place
        for _ in 0..<size.width {
          to[target] = from[source]
          source &+= channels
          target &+= kept.count
        }
      }
    }
  }

  /// Whether red, green and blue are the same everywhere.
  var isNeutral: Bool {
    allPixels { $0[$1] == $0[$1 + 1] && $0[$1] == $0[$1 + 2] }
  }

  /// Whether every pixel of RGBA is opaque.
  var isOpaque: Bool { allPixels { $0[$1 + 3] == 255 } }

  /// Whether all pixels fulfil a condition on all samples and the index of the pixel's first one.
  private func allPixels(_ holds: (UnsafeBufferPointer<UInt8>, Int) -> Bool) -> Bool {
    samples.withUnsafeBufferPointer { samples in
      (0..<size.height).allSatisfy { y in
        Swift.stride(from: y * stride, to: y * stride + rowBytes, by: channels)
          .allSatisfy { holds(samples, $0) }
      }
    }
  }
}

extension [Plane] {
  /// Runs `body` with the addresses of the planes' samples.
  func withPointers<Result>(
    _ pointers: [UnsafePointer<UInt8>] = [], _ body: ([UnsafePointer<UInt8>]) -> Result
  ) -> Result {
    guard pointers.count < count else { return body(pointers) }
    return self[pointers.count].samples.withUnsafeBufferPointer { samples in
      guard let start = samples.baseAddress else { return body(pointers) }
      return withPointers(pointers + [start], body)
    }
  }
}
