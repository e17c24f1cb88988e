extension CleanCopy {
  /// What a picture needs to look right; everything else is text, times and the like.
  private static let needed: Set<String> = [
    "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "cLLI",
    "sBIT", "bKGD", "pHYs", "acTL", "fcTL", "fdAT",
  ]

  mutating func cutPNG(_ source: SourceFile) {
    keep(0..<min(8, source.size))
    var end = 8
    for chunk in PNGChunks(source) {
      if Self.needed.contains(chunk.type) {
        keep(chunk.range)
      } else if chunk.type == "eXIf" {
        cutExif(chunk, of: source)
      } else {
        note(["tEXt", "zTXt", "iTXt"].contains(chunk.type) ? "text" : chunk.type)
      }
      end = chunk.range.upperBound
    }
    close(source, at: end)
  }

  private mutating func cutExif(_ chunk: PNGChunk, of source: SourceFile) {
    let exif = Exif(tiff: source.bytes(chunk.content))
    guard exif.holdsMore else { return keep(chunk.range) }
    note("EXIF")
    guard exif.orientation != .upright else { return }
    let content = Array("eXIf".utf8) + Exif.tiff(exif.orientation)
    insert(
      [0, 0, 0, UInt8(content.count - 4)] + content
        + withUnsafeBytes(of: CRC32.of(content).bigEndian, Array.init))
  }
}
