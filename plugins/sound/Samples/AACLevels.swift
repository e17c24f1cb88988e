import CSound
import MediaTypes

/// The levels of AAC, decoded by FAAD2 packet by packet.
struct AACLevels: Levels {
  private let sound: Sound
  private let table: PacketTable
  private let file: OpenFile

  init(_ sound: Sound, _ table: PacketTable, in file: OpenFile) {
    (self.sound, self.table, self.file) = (sound, table, file)
  }

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
      var bytes = file.read(at: packet.lowerBound, count: packet.count)
      var facts = NeAACDecFrameInfo()
      // A packet that is damaged is passed over, as players do.
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
      var bytes = file.read(at: first.lowerBound, count: first.count)
      return NeAACDecInit(decoder, &bytes, UInt(bytes.count), &rate, &channels) >= 0
    }
    return NeAACDecInit2(
      decoder, &configuration, UInt(configuration.count), &rate, &channels) >= 0
  }
}
