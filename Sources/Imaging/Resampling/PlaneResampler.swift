import CCodecs

/// Shrinks a plane as its rows arrive; of the source it keeps the rows that one result row needs.
final class PlaneResampler {
  /// What arrives.
  struct Input {
    let size: PixelSize
    let channels: Int
    /// Bytes the decoder writes for a row.
    let rowBytes: Int
    /// Rows that arrive together.
    let band: Int
    /// Whether colours carry their alpha; they come out without it.
    var isPremultiplied = false
  }

  private let input: Input
  private let columns: Weights
  private let rows: Weights
  private let reach: Range<Int>
  private let stride: Int
  private let capacity: Int
  private let ring: UnsafeMutablePointer<UInt8>
  private let blended: UnsafeMutablePointer<Int16>
  private var pointers: [UnsafePointer<UInt8>?]
  private var arrived = 0
  private var made = 0

  /// The result, complete when `isComplete`.
  private(set) var plane: Plane

  init(_ input: Input, columns: Weights, rows: Weights) {
    self.input = input
    self.columns = columns
    self.rows = rows
    reach = columns.reach
    stride = (max(input.rowBytes, input.size.width * input.channels) + 63) & ~63
    capacity = ((rows.taps + input.band - 1) / input.band + 2) * input.band
    ring = .allocate(capacity: capacity * stride + 64)
    ring.initialize(repeating: 0, count: capacity * stride + 64)
    let samples = stride + (columns.taps + 8) * input.channels
    blended = .allocate(capacity: samples)
    blended.initialize(repeating: 0, count: samples)
    pointers = Array(repeating: nil, count: rows.taps)
    plane = Plane(PixelSize(columns.starts.count, rows.starts.count), channels: input.channels)
  }

  deinit {
    ring.deallocate()
    blended.deallocate()
  }

  var isComplete: Bool { made == plane.size.height }
  /// Bytes from one row of `slot` to the next.
  var slotStride: Int { stride }
  /// Where the next `band` rows are to be written.
  var slot: UnsafeMutablePointer<UInt8> { ring + arrived % capacity * stride }

  /// Takes the rows that were written to `slot`.
  func receive(_ count: Int) {
    arrived += count
    let available = min(input.size.height, arrived)
    while made < plane.size.height {
      let start = Int(rows.starts[made])
      let count = Int(rows.counts[made])
      guard start + count <= available else { return }
      makeRow(from: start, count)
    }
  }

  private func makeRow(from start: Int, _ count: Int) {
    let channels = input.channels
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
    let dividing: Int32 = input.isPremultiplied ? 1 : 0
    plane.samples.withUnsafeMutableBufferPointer { samples in
      codec_blend_columns(
        blended, columns.values, columns.starts, Int32(columns.taps),
        samples.baseAddress.map { $0 + target }, width, Int32(channels), dividing)
    }
    made += 1
  }
}
