extension RandomAccessCollection<UInt8> where Index == Int {
  /// The two bytes at an offset that exists, most significant first.
  func bigEndian16(at offset: Int) -> UInt16 {
    UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
  }

  /// The four bytes at an offset that exists, most significant first.
  func bigEndian32(at offset: Int) -> UInt32 {
    UInt32(bigEndian16(at: offset)) << 16 | UInt32(bigEndian16(at: offset + 2))
  }
}
