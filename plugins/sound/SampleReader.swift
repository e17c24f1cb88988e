import MediaTypes

/// The levels of uncompressed samples, read a block of whole frames at a time.
struct SampleReader: Levels {
  private let file: OpenFile
  private let layout: SampleLayout

  private static let framesPerBlock = 8192

  /// Nil for a sound whose codec needs a decoder.
  init?(_ sound: Sound, in file: OpenFile) {
    guard let layout = sound.samples, layout.frames > 0 else { return nil }
    self.file = file
    self.layout = layout
  }

  var frames: Int { layout.frames }

  func forEachFrame(_ body: (_ frame: Int, _ level: Float) -> Void) {
    let unit = layout.bytesPerSample * layout.channels
    let (isPacked, framesPerUnit) = (layout.codec == .ima4, layout.framesPerUnit)
    let perBlock = Self.framesPerBlock / framesPerUnit
    for first in stride(from: 0, to: layout.bytes.count / unit, by: perBlock) {
      let start = layout.bytes.lowerBound + first * unit
      let block = file.read(
        at: start, count: min(perBlock * unit, layout.bytes.upperBound - start))
      let frame = first * framesPerUnit
      block.withUnsafeBytes { bytes in
        for index in 0..<bytes.count / unit {
          let place = frame + index * framesPerUnit
          if isPacked {
            packets(bytes, at: index * unit).enumerated().forEach { body(place + $0, $1) }
          } else {
            body(place, level(bytes, at: index * unit))
          }
        }
      }
    }
  }

  /// The loudest channel of one instant.
  private func level(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Float {
    var level: Float = 0
    for channel in 0..<layout.channels {
      let sample = layout.value(bytes, at: offset + channel * layout.bytesPerSample)
      level = max(level, sample.isFinite ? abs(sample) : 0)
    }
    return min(level, 1)
  }

  /// The loudest channel of each instant of one packet per channel.
  private func packets(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> [Float] {
    var levels = [Float](repeating: 0, count: layout.framesPerUnit)
    for channel in 0..<layout.channels {
      let start = offset + channel * layout.bytesPerSample
      IMAPacket.raise(&levels, by: bytes[start..<start + layout.bytesPerSample])
    }
    return levels
  }
}

extension SampleLayout {
  /// The sample at an offset of bytes, as a number between -1 and 1.
  fileprivate func value(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Float {
    switch codec {
    case .pcm where isUnsigned: Float(Int(bytes[offset]) - 128) / 128
    case .pcm:
      // The sign is in the top bits of the four bytes, below the sample are zeros.
      Float(Int32(bitPattern: bits(bytes, at: offset) << UInt32(32 - 8 * bytesPerSample)))
        / 0x8000_0000
    case .float:
      bytesPerSample == 8
        ? Float(Double(bitPattern: wideBits(bytes, at: offset)))
        : Float(bitPattern: bits(bytes, at: offset))
    case .alaw: Float(Self.alaw(bytes[offset])) / 32768
    case .ulaw: Float(Self.ulaw(bytes[offset])) / 32768
    default: 0  // the samples of an IMA 4:1 packet depend on each other; IMAPacket reads them
    }
  }

  private func bits(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
    var bits: UInt32 = 0
    for index in 0..<bytesPerSample {
      let place = isBigEndian ? index : bytesPerSample - 1 - index
      bits = bits << 8 | UInt32(bytes[offset + place])
    }
    return bits
  }

  private func wideBits(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    let bits = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return isBigEndian ? UInt64(bigEndian: bits) : UInt64(littleEndian: bits)
  }

  /// ITU-T G.711, A-law, to sixteen bits.
  private static func alaw(_ byte: UInt8) -> Int {
    let code = byte ^ 0x55
    let exponent = Int(code >> 4 & 7)
    let mantissa = Int(code & 15) << 4 + 8
    let size = exponent == 0 ? mantissa : (mantissa + 0x100) << (exponent - 1)
    return code & 0x80 == 0 ? -size : size
  }

  /// ITU-T G.711, µ-law, to sixteen bits.
  private static func ulaw(_ byte: UInt8) -> Int {
    let code = ~byte
    let size = (Int(code & 15) << 3 + 0x84) << Int(code >> 4 & 7) - 0x84
    return code & 0x80 == 0 ? size : -size
  }
}

/// A packet of Apple's IMA ADPCM (QuickTime `ima4`): 64 samples in 34 bytes.
private enum IMAPacket {
  /// Raises each level to that of the packet's sample, when it is louder.
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
