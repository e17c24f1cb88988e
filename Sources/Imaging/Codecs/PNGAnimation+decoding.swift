import MediaTypes

extension PNGAnimation {
  /// Decodes the frames that are shown, and keeps nothing.
  ///
  /// Of very many only the first are decoded, as many as have the pixels of one large picture.
  /// - Throws: `damaged` when one of them is.
  func validate(_ source: SourceFile, limits: Limits) throws(ImagingError) {
    guard announced > 1 || stillFrame != nil else { return }
    guard isWhole else { throw Self.damaged }
    var walk = frames(of: source)
    var pixels = 0
    while let frame = try walk.next() {
      // The PNG's own picture was decoded already.
      guard !frame.isOwnPicture else { continue }
      pixels += frame.size.pixels
      guard pixels <= limits.megapixels * 1_000_000 else { continue }
      let bytes = frame.chunks.reduce(0) { $0 + $1.count }
      try limits.check(bytes, against: limits.bitmapBytes, for: "This animation")
      guard frame.chunks.allSatisfy({ PNGChunk.hasValidCRC($0, in: source) }) else {
        throw Self.damaged
      }
      do {
        let picture = SourceFile(bytes: frame.png(walk.header, walk.colours, source))
        try PNGReader(picture, limits: limits, checking: true).validate()
      } catch {
        throw error.code == .damaged ? Self.damaged : error
      }
    }
  }
}
