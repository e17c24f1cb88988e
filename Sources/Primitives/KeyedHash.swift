/// SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012) under a random key of this process.
///
/// Secrets are remembered by it: without the key a value neither tells anything about its text, nor can a text
/// with the same value be found.
package struct KeyedHash: Sendable {
  /// The hash of a text.
  package struct Value: Hashable, Sendable {
    package let low: UInt64
    package let high: UInt64
  }

  private let key: (UInt64, UInt64)

  /// A new key from the system's randomness.
  package init() { self.init(key: .random(in: .min ... .max), .random(in: .min ... .max)) }

  init(key low: UInt64, _ high: UInt64) { key = (low, high) }

  /// The hash of the text's UTF-8.
  package func callAsFunction(_ text: String) -> Value {
    var text = text
    return text.withUTF8 { bytes in
      var state = State(key)
      state.absorb(UnsafeRawBufferPointer(bytes))
      return state.finish()
    }
  }

  /// The hash of two texts, which differs from that of any others with the same bytes.
  package func callAsFunction(
    _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
  ) -> Value {
    var state = State(key)
    state.absorb(UInt64(first.count))
    state.absorb(first)
    state.absorb(second)
    return state.finish()
  }

  private struct State {
    var v0, v1, v2, v3: UInt64

    /// The constants are those of the paper; 0xee tells the variant with 128 bits.
    init(_ key: (UInt64, UInt64)) {
      v0 = key.0 ^ 0x736f_6d65_7073_6575
      v1 = key.1 ^ 0x646f_7261_6e64_6f6d ^ 0xee
      v2 = key.0 ^ 0x6c79_6765_6e65_7261
      v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    /// Absorbs all bytes and their number.
    mutating func absorb(_ bytes: UnsafeRawBufferPointer) {
      let (count, end) = (bytes.count, bytes.count & ~7)
      var offset = 0
      while offset < end {
        absorb(bytes.word(at: offset))
        offset += 8
      }
      var last = UInt64(truncatingIfNeeded: count) << 56
      if offset < count, count > 8 {
        last |= bytes.word(at: count - 8) >> (64 - 8 * UInt64(count - offset))
      } else {
        for (index, byte) in bytes[offset...].enumerated() { last |= UInt64(byte) << (8 * index) }
      }
      absorb(last)
    }

    @inline(__always)
    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      for _ in 0..<2 { round() }
      v0 ^= word
    }

    mutating func finish() -> Value {
      v2 ^= 0xee
      for _ in 0..<4 { round() }
      let low = v0 ^ v1 ^ v2 ^ v3
      v1 ^= 0xdd
      for _ in 0..<4 { round() }
      return Value(low: low, high: v0 ^ v1 ^ v2 ^ v3)
    }

    @inline(__always)
    private mutating func round() {
      v0 &+= v1
      v1 = v1 << 13 | v1 >> 51
      v1 ^= v0
      v0 = v0 << 32 | v0 >> 32
      v2 &+= v3
      v3 = v3 << 16 | v3 >> 48
      v3 ^= v2
      v0 &+= v3
      v3 = v3 << 21 | v3 >> 43
      v3 ^= v0
      v2 &+= v1
      v1 = v1 << 17 | v1 >> 47
      v1 ^= v2
      v2 = v2 << 32 | v2 >> 32
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The eight bytes at an offset, the first of which is the lowest.
  package func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
