/// Sixty-four samples in thirty-four bytes: Apple's form of IMA ADPCM (QuickTime `ima4`).
enum IMAPacket {
  /// Raises each level to the packet's sample at its place, where that is louder.
  static func raise(_ levels: inout [Float], by packet: Slice<UnsafeRawBufferPointer>) {
    let bytes = UnsafeRawBufferPointer(rebasing: packet)
    let head = Int(bytes[0]) << 8 | Int(bytes[1])
    var sample = Int(Int16(truncatingIfNeeded: head & 0xFF80))
    var index = min(head & 0x7F, steps.count - 1)
    for place in 0..<64 {
      let byte = bytes[2 + place / 2]
      let code = Int(place & 1 == 0 ? byte & 15 : byte >> 4)
      let step = steps[index]
      let change =
        step >> 3 + (code & 4 == 0 ? 0 : step) + (code & 2 == 0 ? 0 : step >> 1)
        + (code & 1 == 0 ? 0 : step >> 2)
      sample = min(max(sample + (code & 8 == 0 ? change : -change), -32768), 32767)
      index = min(max(index + adjustments[code & 7], 0), steps.count - 1)
      levels[place] = max(levels[place], Float(abs(sample)) / 32768)
    }
  }

  private static let adjustments = [-1, -1, -1, -1, 2, 4, 6, 8]

  private static let steps = [
    7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73,
    80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494,
    544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499,
    2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10442,
    11487,
    12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767,
  ]
}
