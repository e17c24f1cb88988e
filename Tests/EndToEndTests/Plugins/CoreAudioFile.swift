import Foundation
import MediaTypes
import Testing

/// Packets of AAC in the container of Apple's own tools (CAF), which FFmpeg reads and does not write.
struct CoreAudioFile {
  let bytes: [UInt8]

  /// Takes the packets of an M4A file.
  init(packetsOf file: URL) throws {
    let source = [UInt8](try Data(contentsOf: file))
    let sound = try Sound.read(source)
    let table = try #require(sound.packets(in: source))
    let packets = table.packets.map { Array(source[$0]) }
    let description =
      Self.big(Double(sound.sampleRate).bitPattern, 8) + Array("aac ".utf8) + Self.big(0, 8)
      + Self.big(1024, 4) + Self.big(UInt64(sound.channels), 4) + Self.big(0, 4)
    let counts =
      Self.big(UInt64(packets.count), 8) + Self.big(UInt64(packets.count * 1024), 8)
      + Self.big(0, 8)
    bytes =
      Array("caff".utf8) + [0, 1, 0, 0] + Self.chunk("desc", description)
      + Self.chunk("kuki", Self.cookie(table.configuration))
      + Self.chunk("pakt", counts + packets.flatMap { Self.sevenBits($0.count) })
      + Self.chunk("data", Self.big(0, 4) + packets.joined())
  }

  /// The descriptors of an elementary stream (ISO 14496-1 section 7.2.6.5).
  private static func cookie(_ configuration: [UInt8]) -> [UInt8] {
    let specific = descriptor(5, configuration)
    let decoder = descriptor(4, [0x40, 0x15] + [UInt8](repeating: 0, count: 11) + specific)
    return descriptor(3, [0, 0, 0] + decoder + descriptor(6, [2]))
  }

  private static func descriptor(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    [tag, 0x80, 0x80, 0x80, UInt8(content.count)] + content
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    Array(name.utf8) + big(UInt64(content.count), 8) + content
  }

  private static func sevenBits(_ number: Int) -> [UInt8] {
    number < 128 ? [UInt8(number)] : [UInt8(number >> 7) | 0x80, UInt8(number & 127)]
  }

  private static func big(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
  }
}
