extension MediaType {
  /// Decides a type by the bytes alone, after the WHATWG MIME Sniffing Standard.
  ///
  /// Names and declared types are never asked. Text that is nothing else is `text/plain`, all the
  /// rest `application/octet-stream`. Only the first `prefixLength` bytes are looked at.
  package static func sniff(_ bytes: some Sequence<UInt8>) -> MediaType {
    sniff(Array(bytes.prefix(prefixLength)))
  }

  /// The same for an array, byte by byte without the detour over what any sequence can do.
  package static func sniff(_ bytes: [UInt8]) -> MediaType {
    let head = Octets(bytes: Array(bytes.prefix(prefixLength)))
    return Signature.type(of: head) ?? container(of: head) ?? frames(of: head)
      ?? markup(of: head) ?? (isText(head) ? plainText : unknown)
  }

  /// Decides the type of a file or of bytes by their beginning.
  package static func sniff(source: some ByteSource) -> MediaType {
    sniff(source.read(at: 0, count: prefixLength))
  }

  /// A container whose inside names the type: RIFF, IFF, ISO base media, Ogg, Matroska.
  private static func container(of head: Octets) -> MediaType? {
    isoMedia(in: head) ?? ogg(in: head) ?? matroska(in: head)
  }

  /// Streams that have no signature but frame after frame: MPEG audio, AAC, transport streams.
  private static func frames(of head: Octets) -> MediaType? {
    if MPEGFrame.isStream(head) { return MediaType(known: "audio/mpeg") }
    if ADTSFrame.isStream(head) { return MediaType(known: "audio/aac") }
    let isTransportStream = [0, 188, 376].allSatisfy { head[$0] == 0x47 }
    return isTransportStream ? MediaType(known: "video/mp2t") : nil
  }

  /// Text in the sense of WHATWG MIME Sniffing section 7.2: no binary data byte, or a UTF-16 mark.
  private static func isText(_ head: Octets) -> Bool {
    if head.bytes.starts(with: [0xFE, 0xFF]) || head.bytes.starts(with: [0xFF, 0xFE]) {
      return true
    }
    return head.bytes.allSatisfy { byte in
      byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D || byte == 0x1B
    }
  }
}
