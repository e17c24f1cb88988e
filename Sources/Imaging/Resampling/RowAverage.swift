import CCodecs

/// Rows averaged into one, so that a picture shrunk a hundredfold is not kept for its resampler.
final class RowAverage {
  /// Rows that become one.
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
