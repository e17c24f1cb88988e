extension Sound {
  /// Ogg (RFC 3533) with Opus (RFC 7845), Vorbis, Speex or FLAC: all pages of all links are measured.
  static func ogg(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/ogg")
    var links: [OggLink] = []
    /// Whether pages that begin streams follow each other: one link may have several streams.
    var isBeginning = false
    var pages = OggPages(source)
    while let page = pages.next() {
      if page.isFirst {
        if !isBeginning { links.append(OggLink()) }
        links[links.count - 1].begin(page)
      } else {
        guard !links.isEmpty else { throw .incomplete("no first page") }
        links[links.count - 1].add(page)
      }
      isBeginning = page.isFirst
      guard links.count < 10_000 else { throw .damaged(type, "has 10,000 links") }
    }
    guard let first = links.first else { throw .incomplete("no whole first page") }
    guard let head = first.head else { throw .damaged(type, "holds no known codec") }
    return try Sound(
      type: type, codec: head.codec, channels: head.channels, sampleRate: head.sampleRate,
      duration: links.reduce(0) { sum, link in sum.flatMap { sum in link.seconds.map { sum + $0 } }
      })
  }
}

/// A page of Ogg, which has packets or parts of them.
struct OggPage {
  let serial: Int
  let sequence: Int
  /// Where the last packet that ends here is in the stream, in samples; nil when none ends here.
  let position: Int?
  /// Whether the page begins a stream.
  let isFirst: Bool
  /// Whether the page continues a packet.
  let isContinued: Bool
  /// The content of each packet's part in the page, and whether it ends here.
  let packets: [(bytes: Range<Int>, isWhole: Bool)]
  /// What `bytes` are places in.
  let octets: Octets
  /// Bytes of the page.
  let size: Int

  /// The longest page.
  static let mostBytes = 27 + 255 + 255 * 255

  /// The whole page that begins at the offset.
  init?(_ octets: Octets, at offset: Int) {
    guard octets.has("OggS", at: offset), octets[offset + 4] == 0, let flags = octets[offset + 5],
      let serial = octets.little(at: offset + 14, count: 4),
      let sequence = octets.little(at: offset + 18, count: 4),
      let segments = octets[offset + 26]
    else { return nil }
    var end = offset + 27 + segments
    guard end <= octets.count else { return nil }
    var packets: [(bytes: Range<Int>, isWhole: Bool)] = []
    var start = end
    for length in octets.bytes[(offset + 27)..<end] {
      end += Int(length)
      if length < 255 {
        packets.append((start..<end, true))
        start = end
      }
    }
    if start < end { packets.append((start..<end, false)) }
    guard end <= octets.count else { return nil }
    position = octets.little(at: offset + 6, count: 8)
    (isContinued, isFirst) = (flags & 1 != 0, flags & 2 != 0)
    (self.serial, self.sequence, self.packets, self.octets) = (serial, sequence, packets, octets)
    size = end - offset
  }
}

/// The whole pages of an Ogg file in order, also behind damage.
struct OggPages<Source: ByteSource>: Sequence, IteratorProtocol {
  private var window: ByteWindow<Source>
  private var offset = 0

  init(_ source: Source) { window = ByteWindow(source) }

  mutating func next() -> OggPage? {
    while let found = window.first(UInt8(ascii: "O"), from: offset) {
      let place = window.place(of: found, count: OggPage.mostBytes)
      if let page = OggPage(window.octets, at: place) {
        offset = found + page.size
        return page
      }
      offset = found + 1
    }
    return nil
  }
}

/// What the first packet of a stream in Ogg says.
struct OggHead {
  let codec: Codec
  let channels: Int
  /// Hertz, which is also the unit of positions.
  let sampleRate: Int
  /// Samples at the beginning that are not played.
  var skipped = 0
  /// The most samples that a packet can have; 0 when it has any number.
  var mostSamples = 0

  /// Nil for a codec that is not known, or a damaged packet.
  init?(_ octets: Octets, at packet: Int) {
    let (channels, rate): (Int?, Int?)
    if octets.has("OpusHead", at: packet) {
      (codec, channels, rate) = (.opus, octets[packet + 9], 48000)
      skipped = octets.little(at: packet + 10, count: 2) ?? 0
    } else if octets.has("vorbis", at: packet + 1) {
      (codec, channels) = (.vorbis, octets[packet + 11])
      rate = octets.little(at: packet + 12, count: 4)
      mostSamples = octets[packet + 28].map { 1 << ($0 >> 4) } ?? 0
    } else if octets.has("Speex   ", at: packet) {
      (codec, channels) = (.speex, octets.little(at: packet + 48, count: 4))
      rate = octets.little(at: packet + 36, count: 4)
    } else if octets.has("FLAC", at: packet + 1), octets.has("fLaC", at: packet + 9) {
      (codec, channels) = (.flac, octets[packet + 29].map { ($0 >> 1 & 7) + 1 })
      rate = octets.big(at: packet + 27, count: 3).map { $0 >> 4 }
    } else {
      return nil
    }
    guard let channels, let rate, rate > 0 else { return nil }
    (self.channels, sampleRate) = (channels, rate)
  }
}

/// One of the sounds that are chained in an Ogg file.
struct OggLink {
  /// Of the first stream whose codec is known.
  private(set) var head: OggHead?
  private var serial = 0
  private var packets = 0
  /// The first bytes of a packet that goes on in the next page, and so its samples.
  private var pending = 0
  /// Samples of the Opus packets.
  private var samples = 0
  private var start: Int?
  private var end = 0
  private var sequence = 0
  private var hasGap = false

  mutating func begin(_ page: OggPage) {
    guard head == nil, let packet = page.packets.first?.bytes.lowerBound else { return }
    head = OggHead(page.octets, at: packet)
    (serial, sequence, packets) = (page.serial, page.sequence, 1)
  }

  mutating func add(_ page: OggPage) {
    guard let head, page.serial == serial else { return }
    hasGap = hasGap || page.sequence != sequence + 1
    sequence = page.sequence
    // What begins a stream: its form and its comments, and of Vorbis the tables.
    let headers = head.codec == .vorbis ? 3 : 2
    var (ended, length) = (0, 0)
    for (index, packet) in page.packets.enumerated() {
      let isRest = index == 0 && page.isContinued
      let count = isRest ? pending : Self.opusSamples(page.octets, packet.bytes)
      pending = packet.isWhole ? 0 : count
      guard packet.isWhole else { continue }
      packets += 1
      guard packets > headers else { continue }
      (ended, length) = (ended + 1, length + count)
    }
    samples += length
    guard let position = page.position, ended > 0 else { return }
    // A recording of a broadcast does not begin at 0.
    if start == nil {
      start =
        head.codec == .opus
        ? max(0, position - length) : position <= ended * max(head.mostSamples, 1 << 16) ? 0 : nil
      if start == nil { hasGap = true }
    }
    end = position
  }

  /// Nil when it cannot be told: of Opus each packet says it, of others only the position of the last one does.
  var seconds: Double? {
    guard let head, head.codec == .opus || !hasGap else { return nil }
    let length = end - (start ?? 0)
    let played = head.codec == .opus ? Swift.min(samples, length) : length
    return Double(Swift.max(0, played - head.skipped)) / Double(head.sampleRate)
  }

  /// Samples at 48 kHz of an Opus packet (RFC 6716 section 3.1).
  private static func opusSamples(_ octets: Octets, _ packet: Range<Int>) -> Int {
    guard !packet.isEmpty, let head = octets[packet.lowerBound] else { return 0 }
    let mode = head >> 3
    let frame =
      mode < 12
      ? [480, 960, 1920, 2880][mode & 3]
      : mode < 16 ? [480, 960][mode & 1] : [120, 240, 480, 960][mode & 3]
    switch head & 3 {
    case 0: return frame
    case 1, 2: return 2 * frame
    default:
      let count = packet.count > 1 ? (octets[packet.lowerBound + 1] ?? 0) & 63 : 0
      return Swift.min(count * frame, 5760)
    }
  }
}
