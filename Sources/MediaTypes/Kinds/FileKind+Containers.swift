extension FileKind {
  /// What a ZIP archive is used for, by the names in its directory (APPNOTE 4.3.12).
  static func insideArchive(_ source: some ByteSource) -> FileKind {
    let names = Set(namesInArchive(source))
    return archives.first { names.contains($0.name) }?.kind ?? FileKind("a ZIP archive", .archive)
  }

  private static let archives = [
    ("word/document.xml", FileKind("a Word document", .document)),
    ("xl/workbook.xml", FileKind("an Excel workbook", .document)),
    ("ppt/presentation.xml", FileKind("a PowerPoint presentation", .document)),
    ("[Content_Types].xml", FileKind("an Office document", .document)),
    ("META-INF/container.xml", FileKind("an EPUB book", .document)),
    ("Index/Document.iwa", FileKind("a document of Pages, Numbers or Keynote", .document)),
    ("content.xml", FileKind("an OpenDocument file", .document)),
    ("AndroidManifest.xml", program),
  ].map { (name: $0.0, kind: $0.1) }

  /// The names in a ZIP archive's directory: the first 1000, as far as they fit 128 KiB.
  private static func namesInArchive(_ source: some ByteSource) -> [String] {
    // The directory's end stands at the file's end, behind it only a comment of at most 64 KiB.
    let start = max(0, source.size - 22 - 65_535)
    let tail = source.octets(at: start, count: source.size - start)
    let end = stride(from: tail.count - 22, through: 0, by: -1).first {
      tail.has("PK\u{5}\u{6}", at: $0)
    }
    guard let end, let offset = tail.little(at: end + 16, count: 4) else { return [] }
    let directory = source.octets(at: offset, count: 128 << 10)
    var names: [String] = []
    var entry = 0
    while names.count < 1000, directory.has("PK\u{1}\u{2}", at: entry),
      let name = directory.little(at: entry + 28, count: 2),
      let extra = directory.little(at: entry + 30, count: 2),
      let comment = directory.little(at: entry + 32, count: 2),
      entry + 46 + name <= directory.count
    {
      names.append(
        String(decoding: directory.bytes[(entry + 46)..<(entry + 46 + name)], as: UTF8.self))
      entry += 46 + name + extra + comment
    }
    return names
  }

  /// Windows Media: a film when any of the first 64 objects of its header describes a stream of pictures (ASF 3.3).
  static func insideASF(_ source: some ByteSource) -> FileKind {
    var offset = 30
    for _ in 0..<64 {
      let object = source.octets(at: offset, count: 40)
      guard let size = object.little(at: 16, count: 8), size >= 24 else { break }
      if object.bytes.starts(with: asfStream),
        object.bytes.dropFirst(24).starts(with: asfVideo)
      {
        return FileKind("a film (WMV)", .film)
      }
      guard size < source.size else { break }
      offset += size
    }
    return FileKind("a WMA sound", .sound)
  }

  private static let asfStream: [UInt8] = [
    0x91, 0x07, 0xDC, 0xB7, 0xB7, 0xA9, 0xCF, 0x11, 0x8E, 0xE6, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65,
  ]
  private static let asfVideo: [UInt8] = [
    0xC0, 0xEF, 0x19, 0xBC, 0x4D, 0x5B, 0xCF, 0x11, 0xA8, 0xFD, 0x00, 0x80, 0x5F, 0x5C, 0x44, 0x2B,
  ]
}
