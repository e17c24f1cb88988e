import MediaTypes
import PluginKit

/// How far a sound is from silence, instant by instant.
protocol Levels {
  /// How many instants there are, as far as that is known before they are read.
  var frames: Int { get }

  /// Gives each instant's loudest channel in order: its number, and a level from 0 to 1.
  ///
  /// - Throws: `Refusal` when nothing of the sound can be decoded.
  func forEachFrame(_ body: (_ frame: Int, _ level: Float) -> Void) throws
}

extension Sound {
  /// The levels of the sound; nil when its codec is none that is decoded here, or it is too long.
  func levels(in file: OpenFile) -> (any Levels)? {
    if let plain = SampleReader(self, in: file) { return plain }
    guard duration <= Self.longestDecoded else { return nil }
    switch codec {
    case .mp2, .mp3: return type.value == "audio/mpeg" ? MPEGLevels(self, in: file) : nil
    case .aac: return packets(in: file).map { AACLevels(self, $0, in: file) }
    default: return nil
    }
  }

  /// Seconds; decoding takes time, and nobody is told the levels of longer sounds.
  private static let longestDecoded = 1200.0

  /// How many instants its header promises.
  var promisedFrames: Int { Int(duration * Double(sampleRate)) }

  /// What to say when a decoder got nothing out of it.
  var undecodable: Refusal {
    Refusal(
      "This \(type.fileExtension.uppercased()) is damaged. Export it again.",
      detail: "nothing in the file can be decoded")
  }
}

extension UnsafeBufferPointer<Float> {
  /// Gives the loudest of each group of so many samples, the first one's number being `first`;
  /// returns the number of the next.
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
