extension PictureSize {
  /// The same with width and height exchanged.
  var turned: PictureSize? { PictureSize(height, width) }

  /// Whether the content of a JPEG's APP1 segment says that the picture lies on its side (EXIF 2.32 4.6.4: tag
  /// 274 is 5 to 8).
  static func liesOnItsSide(_ exif: Octets) -> Bool {
    guard exif.has("Exif\0\0") else { return false }
    let isLittle = exif.has("II", at: 6)
    func number(_ offset: Int, _ count: Int) -> Int? {
      isLittle ? exif.little(at: offset, count: count) : exif.big(at: offset, count: count)
    }
    guard let directory = number(10, 4), let count = number(6 + directory, 2) else { return false }
    for index in 0..<count {
      let entry = 6 + directory + 2 + 12 * index
      guard let tag = number(entry, 2) else { return false }
      if tag == 0x0112 { return (5...8).contains(number(entry + 8, 2) ?? 1) }
    }
    return false
  }
}
