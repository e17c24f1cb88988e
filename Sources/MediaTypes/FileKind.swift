/// What a file is, in words for the person who has it: `a TIFF picture`, `a Word document`.
package struct FileKind: Sendable, Hashable {
  /// What kind of thing it is, which decides what its owner can do.
  package enum Sort: Sendable {
    /// A picture of pixels.
    case picture
    /// A picture that is better exported as PNG, such as a drawing or an icon.
    case drawing
    /// A picture that phones can show, but not in every notification.
    case photo
    /// What shows its pages as pictures: PDF and PostScript with pages.
    case page
    /// What has pictures in it, such as a letter or a table.
    case document
    case sound, film, archive, webPage, text, program, unknown
  }

  /// What it is called, with its article.
  package let name: String
  /// What kind of thing it is.
  package let sort: Sort

  init(_ name: String, _ sort: Sort) {
    self.name = name
    self.sort = sort
  }

  /// Detects the kind by the content, inside archives too, as office documents are archives; reads
  /// little of a large file.
  package init(_ source: some ByteSource) {
    let head = source.octets(at: 0, count: MediaType.prefixLength)
    let type = MediaType.sniff(head.bytes)
    self =
      switch type.value {
      case "application/zip": Self.insideArchive(source)
      case "application/vnd.ms-asf": Self.insideASF(source)
      case "video/mp4", "video/quicktime", "video/3gpp":
        Self.hasOnlySound(source)
          ? FileKind("a sound (\(type.fileExtension.uppercased()))", .sound)
          : Self.byFamily(of: type)
      case "text/xml" where Self.isDrawing(source), "text/html" where Self.isDrawing(source):
        Self.svg
      default: Self.bySignature(head) ?? Self.byType[type.value] ?? Self.byFamily(of: type)
      }
  }

  /// Whether the tracks of ISO base media (ISO 14496-12) are sounds without a moving picture.
  private static func hasOnlySound(_ source: some ByteSource) -> Bool {
    let movie = Boxes(source: source, range: 0..<source.size)["moov"]
    let handlers = (movie?.all("trak") ?? []).map { $0["mdia"]?.handler }
    return handlers.contains("soun") && !handlers.contains("vide")
  }

  /// Whether markup is an SVG whose first element stands behind much else, such as comments.
  private static func isDrawing(_ source: some ByteSource) -> Bool {
    let text = String(decoding: source.read(at: 0, count: 1 << 16), as: UTF8.self).lowercased()
    return text.contains("<svg") && !text.contains("<html") && !text.contains("<body")
  }

  private static let svg = FileKind("an SVG drawing", .drawing)

  /// The kind of a type that is in no table.
  private static func byFamily(of type: MediaType) -> FileKind {
    switch type.family {
    case "audio": FileKind("a sound (\(type.fileExtension.uppercased()))", .sound)
    case "video": FileKind("a film (\(type.fileExtension.uppercased()))", .film)
    case "text": FileKind("text", .text)
    default: FileKind("a file of an unknown kind", .unknown)
    }
  }

  private static let byType = [
    "image/jpeg": FileKind("a JPEG picture", .picture),
    "image/png": FileKind("a PNG picture", .picture),
    "image/gif": FileKind("a GIF picture", .picture),
    "image/heic": FileKind("a HEIC photo", .photo),
    "image/heif": FileKind("a HEIF photo", .photo),
    "image/avif": FileKind("an AVIF picture", .photo),
    "image/webp": FileKind("a WebP picture", .photo),
    "image/tiff": FileKind("a TIFF picture", .picture),
    "image/bmp": FileKind("a BMP picture", .picture),
    "image/jp2": FileKind("a JPEG 2000 picture", .picture),
    "image/jxl": FileKind("a JPEG XL picture", .picture),
    "image/vnd.adobe.photoshop": FileKind("a Photoshop picture (PSD)", .picture),
    "image/x-icon": FileKind("an icon (ICO)", .drawing),
    "image/svg+xml": svg,
    "audio/mp4": FileKind("an M4A sound", .sound), "audio/mpeg": FileKind("an MP3 sound", .sound),
    "audio/basic": FileKind("an AU sound", .sound), "audio/midi": FileKind("a MIDI song", .sound),
    "audio/wav": FileKind("a WAV sound", .sound), "audio/aiff": FileKind("an AIFF sound", .sound),
    "application/pdf": FileKind("a PDF document", .page),
    "application/gzip": FileKind("a GZIP archive", .archive),
    "application/x-rar-compressed": FileKind("a RAR archive", .archive),
    "application/x-plist": FileKind("a property list", .unknown),
    "text/html": FileKind("a web page", .webPage),
    "text/xml": FileKind("an XML file", .text),
    "text/x-shellscript": program,
    "application/x-httpd-php": program,
  ]

  /// Kinds that no plugin reads, and that therefore need no media type.
  private static func bySignature(_ head: Octets) -> FileKind? {
    if head.has("ftypcrx ", at: 4) || head.has("CR", at: 8) && head.has("II*\0") {
      return cameraRaw
    }
    // A cursor begins like a TGA without a colour map, but it has pictures.
    if head.bytes.starts(with: [0, 0, 2, 0]), head.little(at: 4, count: 2) == 0 {
      return FileKind("a TGA picture", .picture)
    }
    if head.has("MZ"), head.bytes.prefix(64).contains(0) { return program }
    // Only the first line of PostScript tells one picture from a document of pages.
    if head.has("%!PS-Adobe-"), head.has("EPSF-", at: 15) { return encapsulated }
    if head.bytes.starts(with: [1, 0, 0, 0]), head.has(" EMF", at: 40) {
      return FileKind("an EMF drawing", .drawing)
    }
    if head.has("ustar", at: 257) { return FileKind("a TAR archive", .archive) }
    if head.code(at: 0) == "RIFF", head.has("sfbk", at: 8) { return FileKind("a sound", .sound) }
    return signatures.first { head.bytes.starts(with: $0.bytes) }?.kind
  }

  private static let metafile = FileKind("a WMF drawing", .drawing)
  private static let program = FileKind("a program", .program)
  private static let cameraRaw = FileKind("a raw photo of a camera", .picture)
  private static let encapsulated = FileKind("an EPS drawing", .drawing)

  private static let signatures: [(bytes: [UInt8], kind: FileKind)] =
    [
      (Array("FUJIFILMCCD-RAW".utf8), cameraRaw), (Array("IIRO".utf8), cameraRaw),
      (Array("IIRS".utf8), cameraRaw), (Array("IIU\0".utf8), cameraRaw),
      (Array("gimp xcf".utf8), FileKind("a GIMP picture (XCF)", .picture)),
      (Array("icns".utf8), FileKind("an icon (ICNS)", .drawing)),
      ([0x76, 0x2F, 0x31, 0x01], FileKind("an OpenEXR picture", .picture)),
      (Array("%!PS".utf8), FileKind("a PostScript document", .page)),
      ([0xC5, 0xD0, 0xD3, 0xC6], encapsulated),
      ([0xD7, 0xCD, 0xC6, 0x9A], metafile), ([1, 0, 9, 0, 0], metafile),
      (
        [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], FileKind("an Office document", .document)
      ),
      (Array("{\\rtf".utf8), FileKind("an RTF document", .document)),
      (Array("7z".utf8) + [0xBC, 0xAF], FileKind("a 7-Zip archive", .archive)),
      (Array("BZh".utf8), FileKind("a BZIP2 archive", .archive)),
      ([0xFD, 0x37, 0x7A, 0x58, 0x5A], FileKind("an XZ archive", .archive)),
      ([0x28, 0xB5, 0x2F, 0xFD], FileKind("a ZSTD archive", .archive)),
      (Array("FLV".utf8) + [1], FileKind("a film (FLV)", .film)),
      (Array("FWS".utf8), FileKind("a Flash film", .film)),
      (Array("CWS".utf8), FileKind("a Flash film", .film)),
      (Array(".RMF".utf8), FileKind("a RealMedia film", .film)),
      ([0x7F] + Array("ELF".utf8), program),
    ] + (1...6).map { (Array("P\($0)\n".utf8), FileKind("a PNM picture", .picture)) }

  /// What a ZIP archive is used for, by the names in its directory (APPNOTE 4.3.12).
  private static func insideArchive(_ source: some ByteSource) -> FileKind {
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
    // The directory ends at the end of the file, apart from a comment of at most 64 KiB.
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

  /// Windows Media: a film when one of the first 64 objects of its header describes a video stream
  /// (ASF 3.3).
  private static func insideASF(_ source: some ByteSource) -> FileKind {
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
