/// What a file is, in words for the person who has it: `a TIFF picture`, `a Word document`.
package struct FileKind: Sendable, Hashable {
  /// What kind of thing it is; what its owner can do follows from that.
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

  /// Looks at the bytes, and into archives, since documents of offices are such; reads little of a large file.
  package init(_ source: some ByteSource) {
    let head = source.octets(at: 0, count: MediaType.prefixLength)
    let type = MediaType.sniff(head.bytes)
    self =
      switch type.value {
      case "application/zip": Self.insideArchive(source)
      case "application/vnd.ms-asf": Self.insideASF(source)
      case "text/xml" where Self.isDrawing(source), "text/html" where Self.isDrawing(source):
        Self.svg
      default: Self.bySignature(head) ?? Self.byType[type.value] ?? Self.byFamily(of: type)
      }
  }

  /// Whether markup is an SVG whose first element stands behind much else, such as comments.
  private static func isDrawing(_ source: some ByteSource) -> Bool {
    let text = String(decoding: source.read(at: 0, count: 1 << 16), as: UTF8.self).lowercased()
    return text.contains("<svg") && !text.contains("<html") && !text.contains("<body")
  }

  private static let svg = FileKind("an SVG drawing", .drawing)

  /// A type that no table names.
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

  /// Kinds that nothing is made of here, and that need no media type therefore.
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
  static let program = FileKind("a program", .program)
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
}
