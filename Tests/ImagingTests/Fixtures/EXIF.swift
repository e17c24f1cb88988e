import MediaTypes
@testable import Imaging

/// EXIF data in forms that cameras and editors write, and in forms that none should.
struct EXIF {
  /// An entry of a directory: its value as four bytes, first the lower ones.
  struct Entry {
    var tag = 0x0112
    var type = 3
    var count = 1
    var value: Int

    static let resolution = Entry(tag: 0x011A, value: 72)
  }

  var isLittle = true
  var magic = 42
  /// Bytes in front of the first directory.
  var gap = 0
  var entries: [Entry]
  /// What the directory says, if that is not how many entries it has.
  var announced: Int?
  /// The second directory, of the thumbnail.
  var second: [Entry] = []
  /// How many bytes are missing at the end.
  var missing = 0

  init(_ entries: Entry...) { self.entries = entries }

  /// The data from the byte-order mark on.
  var tiff: [UInt8] {
    let next = 8 + gap + 2 + 12 * entries.count + 4
    let bytes =
      Array((isLittle ? "II" : "MM").utf8) + number(magic, 2) + number(8 + gap, 4)
      + [UInt8](repeating: 0, count: gap)
      + directory(entries, announced: announced, next: second.isEmpty ? 0 : next)
      + (second.isEmpty ? [] : directory(second, announced: nil, next: 0))
    return bytes.dropLast(missing)
  }

  /// The content of a JPEG's segment.
  var segment: [UInt8] { Array("Exif\0\0".utf8) + tiff }

  private func directory(_ entries: [Entry], announced: Int?, next: Int) -> [UInt8] {
    number(announced ?? entries.count, 2)
      + entries.flatMap { entry in
        let value =
          entry.type == 3
          ? number(entry.value & 0xFFFF, 2) + number(entry.value >> 16, 2)
          : entry.type == 1 ? [UInt8(entry.value & 255), 0, 0, 0] : number(entry.value, 4)
        return number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 4) + value
      } + number(next, 4)
  }

  private func number(_ value: Int, _ count: Int) -> [UInt8] {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    return isLittle ? bytes : bytes.reversed()
  }
}
