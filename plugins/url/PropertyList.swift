import MediaTypes

/// A shortcut of macOS (`.webloc`): a property list, in XML or binary, with a dictionary.
///
/// Foundation's decoder would make the plugin half as large again.
struct PropertyList {
  /// The string for the key `URL`; nil if there is none.
  let url: String?

  /// Nil if the bytes are no property list.
  init?(_ bytes: [UInt8]) {
    let octets = Octets(bytes: bytes)
    if octets.has("bplist00") {
      guard let list = BinaryPropertyList(octets) else { return nil }
      url = list.value(for: "URL")
    } else {
      var tags = TagReader(String(decoding: bytes, as: UTF8.self))
      guard tags.next()?.name == "plist" else { return nil }
      url = Self.url(in: &tags)
    }
  }

  private static func url(in tags: inout TagReader) -> String? {
    while let tag = tags.next() {
      guard tag.name == "key", tags.text() == "URL" else { continue }
      return tags.next()?.name == "string" ? tags.text() : nil
    }
    return nil
  }
}

/// The binary form (CFBinaryPList.c): objects, a table of their offsets, and a trailer of 32 bytes.
private struct BinaryPropertyList {
  private let octets: Octets
  private let table: Int
  private let offsetSize: Int
  private let referenceSize: Int
  private let root: Int

  init?(_ octets: Octets) {
    let trailer = octets.count - 32
    guard let offsetSize = octets[trailer + 6], let referenceSize = octets[trailer + 7],
      let count = octets.big(at: trailer + 8, count: 8),
      let root = octets.big(at: trailer + 16, count: 8),
      let table = octets.big(at: trailer + 24, count: 8),
      (1...8).contains(offsetSize), (1...8).contains(referenceSize), root < count, table < trailer,
      count <= (trailer - table) / offsetSize
    else { return nil }
    (self.octets, self.table, self.root) = (octets, table, root)
    (self.offsetSize, self.referenceSize) = (offsetSize, referenceSize)
  }

  /// The string for a key of the topmost dictionary.
  func value(for key: String) -> String? {
    guard let (type, count, start) = object(root), type == 0xD else { return nil }
    for index in 0..<count {
      guard let name = reference(start, index) else { return nil }
      if string(name) == key { return reference(start, count + index).flatMap(string) }
    }
    return nil
  }

  /// The number of the object at a place in a dictionary.
  private func reference(_ start: Int, _ index: Int) -> Int? {
    octets.big(at: start + index * referenceSize, count: referenceSize)
  }

  /// The type of an object, the number of its parts, and where they begin.
  private func object(_ number: Int) -> (type: Int, count: Int, start: Int)? {
    guard number < octets.count,
      let offset = octets.big(at: table + number * offsetSize, count: offsetSize),
      let marker = octets[offset]
    else { return nil }
    guard marker & 15 == 15 else { return (marker >> 4, marker & 15, offset + 1) }
    // More than 14 parts: an integer of 2^n bytes follows.
    guard let size = octets[offset + 1], (0x10...0x13).contains(size),
      let count = octets.big(at: offset + 2, count: 1 << (size & 15)), count <= octets.count
    else { return nil }
    return (marker >> 4, count, offset + 2 + (1 << (size & 15)))
  }

  private func string(_ number: Int) -> String? {
    guard let (type, count, start) = object(number) else { return nil }
    switch type {
    case 5:
      guard start + count <= octets.count else { return nil }
      return String(decoding: octets.bytes[start..<start + count], as: UTF8.self)
    case 6:
      let units = (0..<count).compactMap { octets.big(at: start + $0 * 2, count: 2) }
      return units.count < count
        ? nil : String(decoding: units.map { UInt16($0) }, as: UTF16.self)
    default: return nil
    }
  }
}
