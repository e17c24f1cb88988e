import Foundation
import Testing

/// A sound whose loudest sample is half of full scale, in one of the ways to write that.
struct Recording: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let bytes: [UInt8]
  var advice: [String]?

  static let all = [
    Recording(testDescription: "unsigned 8", bytes: wav([0x40, 0x80], tag: 1, bits: 8)),
    Recording(testDescription: "signed 16", bytes: wav(level: 16384)),
    Recording(testDescription: "signed 24", bytes: wav([0, 0, 0xC0], tag: 1, bits: 24)),
    Recording(
      testDescription: "signed 32", bytes: wav([0, 0, 0, 0x40], tag: 1, bits: 32),
      advice: [notOnAndroid]),
    Recording(
      testDescription: "float 32", bytes: wav([0, 0, 0, 0x3F], tag: 3, bits: 32),
      advice: [notOnAndroid, notAnAlert]),
    Recording(
      testDescription: "float 64", bytes: wav([0, 0, 0, 0, 0, 0, 0xE0, 0x3F], tag: 3, bits: 64),
      advice: [notOnAndroid, notAnAlert]),
    Recording(
      testDescription: "µ-law", bytes: wav([0x0F, 0xFF], tag: 7, bits: 8), advice: [notOnAndroid]),
    Recording(
      testDescription: "A-law", bytes: wav([0x25, 0xD5], tag: 6, bits: 8), advice: [notOnAndroid]),
    Recording(
      testDescription: "IMA 4:1", bytes: ima4([0x40, 0x00] + [UInt8](repeating: 0, count: 32)),
      advice: [notAIFF]),
    Recording(
      testDescription: "big-endian 16", bytes: aiff([0x40, 0x00, 0xC0, 0x00]), advice: [notAIFF]),
  ]

  static func wav(level: Int) -> [UInt8] {
    wav([UInt8(level & 255), UInt8(level >> 8)], tag: 1, bits: 16)
  }

  /// A second of the same samples over and over.
  private static func wav(_ sample: [UInt8], tag: UInt8, bits: Int) -> [UInt8] {
    let data = (0..<800).flatMap { _ in sample }
    let little = { (value: Int, count: Int) in (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
    let format = [tag, 0, 1, 0] + little(8000, 4) + little(8000 * bits / 8, 4)
    return [UInt8]("RIFF".utf8) + little(36 + data.count, 4) + [UInt8]("WAVEfmt ".utf8)
      + little(16, 4) + format + little(bits / 8, 2) + little(bits, 2) + [UInt8]("data".utf8)
      + little(data.count, 4) + data
  }

  private static func aiff(_ samples: [UInt8]) -> [UInt8] {
    let common: [UInt8] = [0, 1, 0, 0, 0, 2, 0, 16, 0x40, 0x0B, 0xFA, 0, 0, 0, 0, 0, 0, 0]
    return [UInt8]("FORM".utf8) + [0, 0, 0, 46] + [UInt8]("AIFFCOMM".utf8) + [0, 0, 0, 18] + common
      + [UInt8]("SSND".utf8) + [0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0] + samples
  }

  /// An AIFF-C file of one packet, whose first sample is the one its head says.
  private static func ima4(_ packet: [UInt8]) -> [UInt8] {
    let common: [UInt8] = [0, 1, 0, 0, 0, 1, 0, 16, 0x40, 0x0B, 0xFA, 0, 0, 0, 0, 0, 0, 0]
    return [UInt8]("FORM".utf8) + [0, 0, 0, 86] + [UInt8]("AIFCCOMM".utf8) + [0, 0, 0, 24] + common
      + [UInt8]("ima4".utf8) + [0, 0] + [UInt8]("SSND".utf8) + [
        0, 0, 0, 42, 0, 0, 0, 0, 0, 0, 0, 0,
      ]
      + packet
  }

  private static let notOnAndroid =
    "Android phones may not play this kind of WAV. Save it as M4A."

  private static let notAIFF = "Android phones may not play AIFF. Save it as M4A."

  private static let notAnAlert =
    "Not usable as the alert sound itself. For that, save it as a 16-bit WAV."
}
