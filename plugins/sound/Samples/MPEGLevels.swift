import CSound
import MediaTypes

/// The levels of MPEG audio (MP3), decoded by libmpg123.
struct MPEGLevels: Levels {
  private let sound: Sound
  private let file: OpenFile

  private static let bytesPerBlock = 1 << 16
  private static let samplesPerBlock = 1 << 14

  init(_ sound: Sound, in file: OpenFile) {
    (self.sound, self.file) = (sound, file)
  }

  var frames: Int { sound.promisedFrames }

  func forEachFrame(_ body: (_ frame: Int, _ level: Float) -> Void) throws {
    guard let decoder = mpg123_new(nil, nil) else { throw sound.undecodable }
    defer { mpg123_delete(decoder) }
    guard csound_use_floats(decoder) == MPG123_OK.rawValue,
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

  /// Hands on what can be decoded so far; false when no more will come.
  private func decode(
    _ decoder: OpaquePointer, _ frame: inout Int, _ body: (Int, Float) -> Void
  ) -> Bool {
    withUnsafeTemporaryAllocation(of: Float.self, capacity: Self.samplesPerBlock) { samples in
      while true {
        var count = 0
        let room = samples.count * MemoryLayout<Float>.size
        let status = mpg123_read(decoder, samples.baseAddress, room, &count)
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
