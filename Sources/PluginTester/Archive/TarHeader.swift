/// The header of one file in an archive: POSIX ustar (IEEE 1003.1, pax, "ustar Interchange Format").
struct TarHeader: Equatable {
  /// The kinds of entries that a plugin consists of; all others, such as links and devices, are refused.
  enum Kind: UInt8 {
    case file = 0x30
    case folder = 0x35
  }

  /// The size of a header, of which that of all content is a multiple.
  static let blockSize = 512

  var path: String
  var mode: Int
  var size: Int
  var kind = Kind.file

  /// The bytes of content and padding behind the header.
  var paddedSize: Int { (size + Self.blockSize - 1) / Self.blockSize * Self.blockSize }
}

extension TarHeader {
  /// The position and the length of a field.
  private enum Field {
    static let name = 0..<100
    static let mode = 100..<108
    static let owner = [108..<116, 116..<124]
    static let size = 124..<136
    static let time = 136..<148
    static let checksum = 148..<156
    static let kind = 156
    static let magic = 257..<265
    static let device = [329..<337, 337..<345]
    static let prefix = 345..<500
  }

  private static let magic = Array("ustar\u{0}00".utf8)

  /// The header's bytes; nil if the path is too long for the format.
  ///
  /// Owner and time are always 0, so that the same files make the same archive on every machine.
  var bytes: [UInt8]? {
    var block = [UInt8](repeating: 0, count: Self.blockSize)
    func put(_ bytes: some Collection<UInt8>, _ field: Range<Int>) {
      block.replaceSubrange(field.lowerBound..<field.lowerBound + bytes.count, with: bytes)
    }
    func put(octal number: Int, _ field: Range<Int>) {
      let digits = String(number, radix: 8)
      put((String(repeating: "0", count: field.count - 1 - digits.count) + digits).utf8, field)
    }
    guard let (prefix, name) = Self.split(Array(path.utf8)) else { return nil }
    put(name, Field.name)
    put(prefix, Field.prefix)
    put(octal: mode, Field.mode)
    put(octal: size, Field.size)
    for field in Field.owner + Field.device + [Field.time] { put(octal: 0, field) }
    block[Field.kind] = kind.rawValue
    put(Self.magic, Field.magic)
    let checksum = String(Self.checksum(of: block), radix: 8)
    put(
      (String(repeating: "0", count: 6 - checksum.count) + checksum + "\u{0} ").utf8, Field.checksum
    )
    return block
  }

  /// A path of more than 100 bytes is split at a slash.
  private static func split(
    _ path: [UInt8]
  ) -> (prefix: ArraySlice<UInt8>, name: ArraySlice<UInt8>)? {
    if path.count <= Field.name.count { return ([], path[...]) }
    let slash = path.indices.first {
      path[$0] == UInt8(ascii: "/") && path.count - $0 - 1 <= Field.name.count
    }
    guard let slash, slash <= Field.prefix.count, slash + 1 < path.count else { return nil }
    return (path[..<slash], path[(slash + 1)...])
  }

  /// Reads a header; nil for the block of zeros that ends an archive.
  ///
  /// - Throws: ``PluginTester/Problem`` for anything that is no header of a file or a folder.
  init?(_ block: [UInt8]) throws(PluginTester.Problem) {
    if block.allSatisfy({ $0 == 0 }) { return nil }
    guard block.count == Self.blockSize, block[Field.magic].starts(with: Array("ustar".utf8)),
      Self.number(block[Field.checksum]) == Self.checksum(of: block)
    else { throw PluginTester.Problem(reason: "it is no archive, or is damaged") }
    func text(_ field: Range<Int>) -> String? {
      String(validating: block[field].prefix { $0 != 0 }, as: UTF8.self)
    }
    guard let name = text(Field.name), let prefix = text(Field.prefix) else {
      throw PluginTester.Problem(reason: "it has a name that is not UTF-8")
    }
    path = prefix.isEmpty ? name : prefix + "/" + name
    // An old format has NUL for a file.
    let byte = block[Field.kind] == 0 ? Kind.file.rawValue : block[Field.kind]
    guard let kind = Kind(rawValue: byte) else {
      throw PluginTester.Problem(
        reason:
          "\(path) is neither a file nor a folder: a plugin's archive has no links, devices or "
          + "extended headers")
    }
    guard let mode = Self.number(block[Field.mode]), let size = Self.number(block[Field.size]),
      kind == .file || size == 0
    else { throw PluginTester.Problem(reason: "\(path) has a damaged header") }
    (self.mode, self.size, self.kind) = (mode, size, kind)
  }

  /// An octal number with leading spaces or zeros, which ends at a space or NUL.
  private static func number(_ field: ArraySlice<UInt8>) -> Int? {
    let digits = field.drop { $0 == 0x20 }.prefix { $0 != 0 && $0 != 0x20 }
    guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
    return Int(String(decoding: digits, as: UTF8.self), radix: 8)
  }

  /// The sum of all bytes, those of the checksum counted as spaces.
  private static func checksum(of block: [UInt8]) -> Int {
    block.indices.reduce(0) { $0 + (Field.checksum.contains($1) ? 0x20 : Int(block[$1])) }
  }
}
