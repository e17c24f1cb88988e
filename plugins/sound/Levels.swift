import Glibc
import MediaTypes
import PluginKit

/// The levels of a sound, instant by instant.
protocol Levels {
  /// The number of instants, as far as it is known before they are read.
  var frames: Int { get }

  /// Calls `body` for each instant in order, with its number and the level of its loudest channel, from
  /// 0 to 1.
  ///
  /// - Throws: `Refusal` when nothing of the sound can be decoded.
  func forEachFrame(_ body: (_ frame: Int, _ level: Float) -> Void) throws
}

extension Sound {
  /// The levels of the sound; nil when there is no decoder for its codec, or it is too long.
  func levels(in file: OpenFile) -> (any Levels)? {
    if let plain = SampleReader(self, in: file) { return plain }
    guard !isTooLongToDecode else { return nil }
    switch codec {
    case .mp2, .mp3: return type.value == "audio/mpeg" ? MPEGLevels(sound: self, file: file) : nil
    case .aac: return packets(in: file).map { AACLevels(sound: self, table: $0, file: file) }
    default: return nil
    }
  }

  /// Seconds; longer sounds are not decoded, as that takes time.
  private static let longestDecoded = 1200.0

  /// Whether it is so long that it is not decoded.
  var isTooLongToDecode: Bool { (duration ?? 0) > Self.longestDecoded }

  /// The number of instants, as far as they can be counted without a decoder.
  var promisedFrames: Int { Int((duration ?? 0) * Double(sampleRate)) }

  /// The refusal when a decoder found no sample.
  var undecodable: Refusal {
    Refusal(
      "This \(type.fileExtension.uppercased()) is damaged. Export it again.",
      detail: "nothing in the file can be decoded")
  }
}

extension UnsafeBufferPointer<Float> {
  /// Calls `body` with the loudest sample of each group of `channels`.
  ///
  /// - Parameters:
  ///   - channels: Samples of a group.
  ///   - first: The number of the first group.
  ///   - body: Gets a group's number, and its level.
  /// - Returns: The number of the next group.
  func forEachFrame(
    of channels: Int, from first: Int, _ body: (_ frame: Int, _ level: Float) -> Void
  ) -> Int {
    let count = self.count / Swift.max(channels, 1)
    for frame in 0..<count {
      var level: Float = 0
      for channel in 0..<channels {
        let sample = self[frame * channels + channel]
        level = Swift.max(level, sample.isFinite ? abs(sample) : 0)
      }
      body(first + frame, Swift.min(level, 1))
    }
    return first + count
  }
}

/// The loudness of a sound.
struct Loudness {
  /// The loudest sample against full scale in decibels, 0 at most; nil for silence.
  let peak: Double?
  /// Whether several samples in a row are at full scale, as in a recording that is too loud.
  let isClipped: Bool

  /// The samples in a row at full scale that are heard as distortion.
  private static let clippedRun = 4

  init(_ levels: any Levels) throws {
    var loudest: Float = 0
    var run = 0
    var longest = 0
    try levels.forEachFrame { _, level in
      loudest = max(loudest, level)
      run = level > 0.9999 ? run + 1 : 0
      longest = max(longest, run)
    }
    peak = loudest > 0 ? (200 * log10(Double(loudest))).rounded() / 10 : nil
    isClipped = longest >= Self.clippedRun
  }

  /// What the publisher should do about it.
  var advice: [String] {
    guard let peak else { return ["The sound is silent."] }
    if isClipped {
      return ["It is too loud and will sound distorted. Record it at a lower level."]
    }
    return peak < -30 ? ["It is very quiet; people may not hear it. Make it louder."] : []
  }
}
