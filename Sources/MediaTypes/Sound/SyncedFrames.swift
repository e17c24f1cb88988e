/// What does not change from frame to frame of a stream.
struct FrameClock: Hashable {
  /// Hertz.
  let sampleRate: Int
  /// Samples of each channel in a frame.
  let samples: Int
}

/// A frame whose header can be found in a stream, as it begins with set bits.
protocol SyncedFrame {
  /// Bytes that are needed to read the header.
  static var headLength: Int { get }
  /// Bytes of the frame, with its header.
  var size: Int { get }
  var clock: FrameClock { get }
  /// Samples of each channel in the frame.
  var samples: Int { get }

  /// The frame that begins at the offset; nil when no valid header is there.
  init?(_ octets: Octets, at offset: Int)
}

extension SyncedFrame {
  /// Whether a second frame of the same kind follows the first (WHATWG MIME Sniffing 6.2.4).
  static func isStream(_ octets: Octets, at offset: Int = 0) -> Bool {
    guard let frame = Self(octets, at: offset), let next = Self(octets, at: offset + frame.size)
    else { return false }
    return next.clock == frame.clock
  }
}

/// The whole frames of a stream in order, whatever stands before, between and behind them.
///
/// Tags are skipped by their length, other bytes are searched for the next two frames in a row.
struct SyncedFrames<Source: ByteSource, Frame: SyncedFrame>: Sequence, IteratorProtocol {
  private var window: ByteWindow<Source>
  private var offset: Int
  private var clock: FrameClock?

  /// The most bytes between two frames, or before the first one: more than any picture in a tag.
  private static var mostSearched: Int { 1 << 25 }

  init(_ source: Source, from start: Int = 0) { (window, offset) = (ByteWindow(source), start) }

  mutating func next() -> (frame: Frame, range: Range<Int>)? {
    if let frame = frame(at: offset), frame.clock == clock || isConfirmed(frame, at: offset) {
      return take(frame)
    }
    // An ID3v2 tag between joined files may have a picture, which is not searched.
    while let length = tagLength(at: offset), length < window.source.size - offset {
      offset += length
      if let frame = frame(at: offset), isConfirmed(frame, at: offset) { return take(frame) }
    }
    let start = offset
    while let found = window.first(0xFF, from: offset), found - start < Self.mostSearched {
      offset = found
      if let frame = frame(at: offset), isConfirmed(frame, at: offset) { return take(frame) }
      offset += 1
    }
    return nil
  }

  private mutating func take(_ frame: Frame) -> (frame: Frame, range: Range<Int>) {
    defer { (offset, clock) = (offset + frame.size, frame.clock) }
    return (frame, offset..<offset + frame.size)
  }

  /// The whole frame at an offset.
  private mutating func frame(at offset: Int) -> Frame? {
    let place = window.place(of: offset, count: Frame.headLength)
    guard let frame = Frame(window.octets, at: place), frame.size <= window.source.size - offset
    else { return nil }
    return frame
  }

  /// Whether another frame of the kind follows, a tag, or the end.
  private mutating func isConfirmed(_ frame: Frame, at offset: Int) -> Bool {
    let end = offset + frame.size
    if end == window.source.size { return true }
    let place = window.place(of: end, count: 11)
    if let next = Frame(window.octets, at: place) { return next.clock == frame.clock }
    let octets = window.octets
    return octets.has("TAG", at: place) || octets.has("APETAGEX", at: place)
      || octets.has("LYRICSBEGIN", at: place) || octets.has("ID3", at: place)
  }

  private mutating func tagLength(at offset: Int) -> Int? {
    let place = window.place(of: offset, count: ID3Tag.headLength)
    return ID3Tag(window.octets, at: place)?.length
  }
}

/// An ID3v2 tag (id3.org, ID3v2.4 section 3.1).
struct ID3Tag {
  /// Bytes of the tag, with its head and foot.
  let length: Int

  static let headLength = 10

  /// The tag that begins at the offset; nil when there is none.
  init?(_ octets: Octets, at offset: Int) {
    guard octets.has("ID3", at: offset), let flags = octets[offset + 5],
      let size = octets.big(at: offset + 6, count: 4), size & 0x8080_8080 == 0
    else { return nil }
    // Four bytes with seven bits each.
    let content = (0..<4).reduce(0) { $0 << 7 | size >> (24 - 8 * $1) & 0x7F }
    let hasFoot = flags & 0x10 != 0
    length = Self.headLength + content + (hasFoot ? 10 : 0)
  }

  /// Where the tags in front of a file end: 0 without one.
  static func end(in source: some ByteSource) -> Int {
    var end = 0
    for _ in 0..<16 {
      guard let tag = ID3Tag(source.octets(at: end, count: headLength), at: 0) else { break }
      end += tag.length
    }
    return end
  }
}
