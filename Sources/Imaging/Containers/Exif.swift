/// The one thing that matters in EXIF (TIFF 6.0 structure, EXIF 2.32 4.6.4): how to turn the picture.
struct Exif {
  /// The orientation, upright when the data says nothing that can be understood.
  let orientation: Orientation
  /// Whether anything but the orientation is in it.
  let holdsMore: Bool

  /// - Parameter tiff: the bytes from the byte-order mark on.
  init(tiff: [UInt8]) {
    var orientation = Orientation.upright
    var isAlone = false
    if let reader = Reader(tiff), let first = reader.u32(4).map(Int.init), first >= 8,
      let count = reader.u16(first).map(Int.init)
    {
      for index in 0..<count {
        let entry = first + 2 + 12 * index
        guard let tag = reader.u16(entry), let value = reader.u16(entry + 8) else { break }
        guard tag == 0x0112 else { continue }
        orientation = Orientation(rawValue: UInt8(truncatingIfNeeded: value)) ?? .upright
        isAlone = count == 1 && tiff.count <= first + 2 + 12 + 4 && first == 8
        break
      }
    }
    self.orientation = orientation
    holdsMore = !isAlone
  }

  /// TIFF bytes that say the orientation and nothing else.
  static func tiff(_ orientation: Orientation) -> [UInt8] {
    [
      0x4D, 0x4D, 0, 42, 0, 0, 0, 8,  // big-endian, the directory follows
      0, 1,  // one entry
      0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation.rawValue, 0, 0,
      0, 0, 0, 0,  // no other directory
    ]
  }

  private struct Reader {
    let bytes: [UInt8]
    let isLittleEndian: Bool

    init?(_ bytes: [UInt8]) {
      guard bytes.count >= 14 else { return nil }
      switch (bytes[0], bytes[1]) {
      case (0x49, 0x49): isLittleEndian = true
      case (0x4D, 0x4D): isLittleEndian = false
      default: return nil
      }
      self.bytes = bytes
    }

    func u16(_ offset: Int) -> UInt16? {
      guard offset >= 0, offset + 2 <= bytes.count else { return nil }
      let value = bytes.bigEndian16(at: offset)
      return isLittleEndian ? value.byteSwapped : value
    }

    func u32(_ offset: Int) -> UInt32? {
      guard offset >= 0, offset + 4 <= bytes.count else { return nil }
      let value = bytes.bigEndian32(at: offset)
      return isLittleEndian ? value.byteSwapped : value
    }
  }
}
