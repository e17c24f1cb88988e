import MediaTypes

/// Reads the samples of a sound as numbers between -1 and 1, a block of whole frames at a time.
struct SampleReader {
  private let file: OpenFile
  private let layout: SampleLayout

  private static let framesPerBlock = 8192

  /// A reader of plain samples; nil for a sound whose codec needs a decoder.
  init?(_ sound: Sound, in file: OpenFile) {
    guard let layout = sound.samples, layout.frames > 0 else { return nil }
    self.file = file
    self.layout = layout
  }

  /// How many instants were sampled.
  var frames: Int { layout.frames }

  /// Gives each instant's loudest channel in order: its number and how far it is from silence.
  func forEachFrame(_ body: (_ frame: Int, _ level: Float) -> Void) {
    let width = layout.bytesPerSample
    let frameBytes = width * layout.channels
    let decode = SampleDecoder(layout)
    for first in stride(from: 0, to: frames, by: Self.framesPerBlock) {
      let count = min(Self.framesPerBlock, frames - first)
      let block = file.read(
        at: layout.bytes.lowerBound + first * frameBytes, count: count * frameBytes)
      block.withUnsafeBytes { bytes in
        for frame in 0..<bytes.count / frameBytes {
          var level: Float = 0
          for channel in 0..<layout.channels {
            let sample = decode.value(bytes, at: frame * frameBytes + channel * width)
            level = max(level, sample.isFinite ? abs(sample) : 0)
          }
          body(first + frame, min(level, 1))
        }
      }
    }
  }
}
