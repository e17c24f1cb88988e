import CSound
import MediaTypes

/// The levels of AAC, decoded by FAAD2 packet by packet.
struct AACLevels: Levels {
  let sound: Sound
  let table: PacketTable
  let file: OpenFile

  var frames: Int { sound.promisedFrames }

  func forEachFrame(_ body: (_ frame: Int, _ level: Float) -> Void) throws {
    guard let decoder = NeAACDecOpen() else { throw sound.undecodable }
    defer { NeAACDecClose(decoder) }
    let settings = NeAACDecGetCurrentConfiguration(decoder)
    settings?.pointee.outputFormat = UInt8(FAAD_FMT_FLOAT)
    settings?.pointee.dontUpSampleImplicitSBR = 1  // else it is twice as long as its header says
    NeAACDecSetConfiguration(decoder, settings)
    guard begin(decoder) else { throw sound.undecodable }
    var frame = 0
    for packet in table.packets {
      var bytes = file.bytes(packet)
      var facts = NeAACDecFrameInfo()
      // A damaged packet is skipped, as players do.
      guard let samples = NeAACDecDecode(decoder, &facts, &bytes, UInt(bytes.count)),
        facts.error == 0
      else { continue }
      let decoded = UnsafeBufferPointer(
        start: samples.assumingMemoryBound(to: Float.self), count: Int(facts.samples))
      frame = decoded.forEachFrame(of: Int(facts.channels), from: frame, body)
    }
    if frame == 0 { throw sound.undecodable }
  }

  private func begin(_ decoder: NeAACDecHandle) -> Bool {
    var (rate, channels) = (UInt(0), UInt8(0))
    var configuration = table.configuration
    if configuration.isEmpty, let first = table.packets.first {
      var bytes = file.bytes(first)
      return NeAACDecInit(decoder, &bytes, UInt(bytes.count), &rate, &channels) >= 0
    }
    return NeAACDecInit2(
      decoder, &configuration, UInt(configuration.count), &rate, &channels) >= 0
  }
}

/// The levels of MPEG audio (MP3), decoded by libmpg123.
struct MPEGLevels: Levels {
  let sound: Sound
  let file: OpenFile

  private static let bytesPerBlock = 1 << 16
  private static let samplesPerBlock = 1 << 14

  var frames: Int { sound.promisedFrames }

  func forEachFrame(_ body: (_ frame: Int, _ level: Float) -> Void) throws {
    guard let decoder = mpg123_new(nil, nil) else { throw sound.undecodable }
    defer { mpg123_delete(decoder) }
    guard csound_configure(decoder) == MPG123_OK.rawValue,
      mpg123_open_feed(decoder) == MPG123_OK.rawValue
    else { throw sound.undecodable }
    var frame = 0
    for offset in stride(from: 0, to: file.size, by: Self.bytesPerBlock) {
      let block = file.read(at: offset, count: Self.bytesPerBlock)
      mpg123_feed(decoder, block, block.count)
      guard decode(decoder, &frame, body) else { break }
    }
    if frame == 0 { throw sound.undecodable }
  }

  /// Decodes the bytes so far.
  ///
  /// - Returns: False when no more can be decoded.
  private func decode(
    _ decoder: OpaquePointer, _ frame: inout Int, _ body: (Int, Float) -> Void
  ) -> Bool {
    withUnsafeTemporaryAllocation(of: Float.self, capacity: Self.samplesPerBlock) { samples in
      while true {
        var count = 0
        let capacity = samples.count * MemoryLayout<Float>.size
        let status = mpg123_read(decoder, samples.baseAddress, capacity, &count)
        var (rate, channels, encoding) = (0, Int32(0), Int32(0))
        mpg123_getformat(decoder, &rate, &channels, &encoding)
        let decoded = samples.prefix(count / MemoryLayout<Float>.size)
        frame = UnsafeBufferPointer(rebasing: decoded)
          .forEachFrame(of: Int(channels), from: frame, body)
        if status == MPG123_NEED_MORE.rawValue { return true }
        guard status == MPG123_OK.rawValue || status == MPG123_NEW_FORMAT.rawValue else {
          return false
        }
      }
    }
  }
}
