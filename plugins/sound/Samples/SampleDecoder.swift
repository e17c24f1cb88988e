import MediaTypes

/// Turns the bytes of one sample into a number between -1 and 1.
struct SampleDecoder {
  private let format: SampleLayout.Format
  private let width: Int
  private let isBigEndian: Bool

  init(_ layout: SampleLayout) {
    format = layout.format
    width = layout.bytesPerSample
    isBigEndian = layout.isBigEndian
  }

  func value(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Float {
    switch format {
    case .unsignedInteger: Float(Int(bytes[offset]) - 128) / 128
    case .signedInteger:
      // The sign is in the top bits of the four bytes, the sample below is filled up with zeroes.
      Float(Int32(bitPattern: bits(bytes, at: offset) << UInt32(32 - 8 * width))) / 0x8000_0000
    case .float:
      width == 8
        ? Float(Double(bitPattern: wideBits(bytes, at: offset)))
        : Float(bitPattern: bits(bytes, at: offset))
    case .alaw: Float(Self.alaw(bytes[offset])) / 32768
    case .ulaw: Float(Self.ulaw(bytes[offset])) / 32768
    case .ima4: 0  // samples of a packet hang together; IMAPacket reads them
    }
  }

  private func bits(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
    var bits: UInt32 = 0
    for index in 0..<width {
      bits = bits << 8 | UInt32(bytes[offset + (isBigEndian ? index : width - 1 - index)])
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
