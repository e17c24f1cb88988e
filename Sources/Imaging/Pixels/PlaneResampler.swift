import CCodecs
import MediaTypes

/// Resamples a plane as its rows arrive; of the source it keeps the rows that one result row needs.
final class PlaneResampler {
  private let size: PixelSize
  private let channels: Int
  private let isPremultiplied: Bool
  private let columns: Weights
  private let rows: Weights
  private let reach: Range<Int>
  /// Bytes from one row of `slot` to the next.
  let stride: Int
  private let capacity: Int
  private let ring: UnsafeMutablePointer<UInt8>
  private let blended: UnsafeMutablePointer<Int16>
  private var pointers: [UnsafePointer<UInt8>?]
  private var arrived = 0
  private var made = 0

  /// The result; complete when `isComplete`.
  private(set) var plane: Plane

  /// - Parameters:
  ///   - size: The size of the source.
  ///   - channels: Samples of a pixel.
  ///   - rowBytes: The bytes that the decoder writes for a row, when these are more than its samples.
  ///   - band: The number of rows that arrive together.
  ///   - isPremultiplied: Whether colours are multiplied by alpha; in the result they are not.
  ///   - columns: The weights of the samples of a row.
  ///   - rows: The weights of the rows.
  init(
    _ size: PixelSize, channels: Int, rowBytes: Int = 0, band: Int = 1,
    isPremultiplied: Bool = false, columns: Weights, rows: Weights
  ) {
    (self.size, self.channels, self.isPremultiplied) = (size, channels, isPremultiplied)
    (self.columns, self.rows, reach) = (columns, rows, columns.reach)
    stride = (max(rowBytes, size.width * channels) + 63) & ~63
    capacity = ((rows.taps + band - 1) / band + 2) * band
    ring = .allocate(capacity: capacity * stride + 64)
    ring.initialize(repeating: 0, count: capacity * stride + 64)
    let samples = stride + (columns.taps + 8) * channels
    blended = .allocate(capacity: samples)
    blended.initialize(repeating: 0, count: samples)
    pointers = Array(repeating: nil, count: rows.taps)
    plane = Plane(PixelSize(columns.starts.count, rows.starts.count), channels: channels)
  }

  deinit {
    ring.deallocate()
    blended.deallocate()
  }

  var isComplete: Bool { made == plane.size.height }
  /// Where the next `band` rows must be written.
  var slot: UnsafeMutablePointer<UInt8> { ring + arrived % capacity * stride }

  /// Resamples `count` rows that were written to `slot`.
  func receive(_ count: Int) {
    arrived += count
    let available = min(size.height, arrived)
    while made < plane.size.height {
      let start = Int(rows.starts[made])
      let count = Int(rows.counts[made])
      guard start + count <= available else { return }
      makeRow(from: start, count)
    }
  }

  private func makeRow(from start: Int, _ count: Int) {
    let offset = reach.lowerBound * channels
    for k in 0..<count {
      pointers[k] = UnsafePointer(ring + (start + k) % capacity * stride + offset)
    }
    let firstWeight = made * rows.taps
    rows.values.withUnsafeBufferPointer { weights in
      codec_blend_rows(
        pointers, weights.baseAddress.map { $0 + firstWeight }, Int32(count), blended + offset,
        Int32(reach.count * channels))
    }
    let target = made * plane.stride
    let width = Int32(plane.size.width)
    let dividing: Int32 = isPremultiplied ? 1 : 0
    plane.samples.withUnsafeMutableBufferPointer { samples in
      codec_blend_columns(
        blended, columns.values, columns.starts, Int32(columns.taps),
        samples.baseAddress.map { $0 + target }, width, Int32(channels), dividing)
    }
    made += 1
  }
}

/// Averages rows, so that of a picture that is shrunk a hundredfold few rows are kept.
final class RowAverage {
  /// How many rows become one.
  let count: Int
  private let bytes: Int
  private let sums: UnsafeMutablePointer<UInt32>
  private var taken = 0

  init(of count: Int, bytes: Int) {
    self.count = count
    self.bytes = bytes
    sums = .allocate(capacity: bytes)
    sums.initialize(repeating: 0, count: bytes)
  }

  deinit { sums.deallocate() }

  /// Adds a row; true when the average is due.
  func add(_ row: UnsafePointer<UInt8>) -> Bool {
    codec_add_row(row, sums, bytes)
    taken += 1
    return taken == count
  }

  /// Writes the average of the rows added since the last one; false when there were none.
  func take(into row: UnsafeMutablePointer<UInt8>) -> Bool {
    guard taken > 0 else { return false }
    let divisor = UInt32(taken)
    for index in 0..<bytes {
      row[index] = UInt8(truncatingIfNeeded: (sums[index] &+ divisor / 2) / divisor)
      sums[index] = 0
    }
    taken = 0
    return true
  }
}
