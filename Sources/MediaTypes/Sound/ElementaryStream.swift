/// The `esds` box of MPEG-4 (ISO 14496-1 section 7.2.6.5): what a track of kind `mp4a` really contains.
struct ElementaryStream {
  let codec: Codec
  /// Of AAC, what its decoder needs first; else empty.
  let configuration: [UInt8]
  /// How AAC is coded; nil for other codecs.
  let aac: AACConfiguration?

  /// Reads the box in a track's sample entry, whose own fields always say two channels.
  init?(in boxes: Boxes<some ByteSource>) {
    // In QuickTime it is in `wave`.
    guard let box = boxes["esds"] ?? boxes["wave"]?["esds"] else { return nil }
    self.init(box.octets(128))
  }

  /// Reads the box's content after its version; nil when it describes no stream.
  init?(_ octets: Octets, at start: Int = 4) {
    var offset = start
    guard octets.descriptor(3, at: &offset) != nil, let flags = octets[offset + 2] else {
      return nil
    }
    offset += 3 + (flags & 0x80 == 0 ? 0 : 2) + (flags & 0x20 == 0 ? 0 : 2)
    guard flags & 0x40 == 0, octets.descriptor(4, at: &offset) != nil, let kind = octets[offset]
    else { return nil }
    // The object types that are registered with the MP4 Registration Authority.
    switch kind {
    case 0x40, 0x66...0x68: codec = .aac
    case 0x69, 0x6B: codec = .mp3
    case 0xA5: codec = .ac3
    case 0xA6: codec = .eac3
    case 0xAE: codec = .ac4
    case 0xA9...0xAC: codec = .dts
    case 0xDD: codec = .vorbis
    default: codec = .other
    }
    offset += 13
    guard codec == .aac, let length = octets.descriptor(5, at: &offset) else {
      (configuration, aac) = ([], nil)
      return
    }
    configuration = Array(octets.bytes.dropFirst(offset).prefix(length))
    aac = AACConfiguration(configuration)
  }
}

extension Octets {
  /// Steps into a descriptor with this tag; its length, which may take several bytes.
  fileprivate func descriptor(_ tag: Int, at offset: inout Int) -> Int? {
    guard self[offset] == tag else { return nil }
    var length = 0
    for _ in 0..<4 {
      offset += 1
      guard let byte = self[offset] else { return nil }
      length = length << 7 | byte & 0x7F
      if byte & 0x80 == 0 { break }
    }
    offset += 1
    return length
  }
}
