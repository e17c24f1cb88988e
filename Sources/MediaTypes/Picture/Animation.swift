extension ByteSource {
  /// Whether this is a picture with more than one frame, which a program that plays its format shows in turn.
  package var isAnimation: Bool {
    let head = octets(0..<16)
    if head.has("GIF8") {
      return GIFBlocks(self).lazy.filter { $0.kind == .image && !$0.isEmpty(in: self) }
        .prefix(2).count > 1
    }
    if head[0] == 0x89, head.has("PNG", at: 1) { return isAnimatedPNG }
    if head.has("RIFF"), head.has("WEBP", at: 8) {
      return Chunks(webP: self).lazy.filter { $0.id == "ANMF" }.prefix(2).count > 1
    }
    return head.has("ftyp", at: 4) && isSequence(head)
  }

  /// Third edition, 11.3.6.1: the number of frames is before the pixels.
  private var isAnimatedPNG: Bool {
    for chunk in Chunks(png: self) {
      if chunk.id == "IDAT" { return false }
      if chunk.id == "acTL" { return (octets(chunk.body.prefix(4)).big(at: 0, count: 4) ?? 0) > 1 }
    }
    return false
  }

  /// The brands of ISO/IEC 23008-12, 10.3 and of AVIF, 6.2.
  private func isSequence(_ head: Octets) -> Bool {
    let brands = octets(8..<min(max(8, head.big(at: 0, count: 4) ?? 8), 1024))
    return stride(from: 0, to: brands.count, by: 4).contains {
      ["msf1", "hevc", "avis"].contains(brands.code(at: $0))
    }
  }
}
