import CCodecs

/// Shrinks rows of sRGB samples in linear light as they arrive: across first, so that it keeps no more than
/// rows as wide as the result.
final class LightResampler {
  private let size: PixelSize
  private let channels: Int
  private let columns: Weights
  private let rows: Weights
  private let reach: Range<Int>
  private let source: UnsafeMutablePointer<Float>
  private let ring: UnsafeMutablePointer<Float>
  private let blended: UnsafeMutablePointer<Float>
  private var pointers: [UnsafePointer<Float>?]
  private var arrived = 0
  private var made = 0

  /// The result, complete when `isComplete`.
  private(set) var plane: Plane

  /// For rows of a picture of that size; `channels` is 1 for grey, 3 for RGB, 4 for RGBA.
  init(_ size: PixelSize, channels: Int, columns: Weights, rows: Weights) {
    (self.size, self.channels, self.columns, self.rows) = (size, channels, columns, rows)
    reach = rows.reach
    plane = Plane(PixelSize(columns.starts.count, rows.starts.count), channels: channels)
    let sourceCount = (size.width + columns.taps) * channels
    source = .allocate(capacity: sourceCount)
    source.initialize(repeating: 0, count: sourceCount)
    ring = .allocate(capacity: rows.taps * plane.rowBytes)
    blended = .allocate(capacity: plane.rowBytes)
    pointers = Array(repeating: nil, count: rows.taps)
  }

  deinit {
    source.deallocate()
    ring.deallocate()
    blended.deallocate()
  }

  var isComplete: Bool { made == plane.size.height }

  /// Takes the next row.
  func receive(_ row: UnsafePointer<UInt8>) {
    defer { arrived += 1 }
    guard reach.contains(arrived) else { return }
    codec_light_of_row(row, Light.ofCodes, source, size.width, Int32(channels))
    codec_light_columns(
      source, columns.values, columns.starts, Int32(columns.taps),
      ring + arrived % rows.taps * plane.rowBytes, Int32(plane.size.width), Int32(channels))
    while made < plane.size.height {
      let start = Int(rows.starts[made])
      let count = Int(rows.counts[made])
      guard start + count <= arrived + 1 else { return }
      makeRow(from: start, count)
    }
  }

  private func makeRow(from start: Int, _ count: Int) {
    for k in 0..<count {
      pointers[k] = UnsafePointer(ring + (start + k) % rows.taps * plane.rowBytes)
    }
    let firstWeight = made * rows.taps
    rows.values.withUnsafeBufferPointer { weights in
      codec_light_rows(
        pointers, weights.baseAddress.map { $0 + firstWeight }, Int32(count), blended,
        Int32(plane.rowBytes))
    }
    let target = made * plane.stride
    let width = plane.size.width
    plane.samples.withUnsafeMutableBufferPointer { samples in
      codec_light_to_row(
        blended, Light.toCodes, samples.baseAddress.map { $0 + target }, width, Int32(channels))
    }
    made += 1
  }
}
