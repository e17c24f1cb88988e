import MediaTypes

/// Reads the samples of a sound as numbers between -1 and 1, a block of whole frames at a time.
struct SampleReader: Levels {
  private let file: OpenFile
  private let layout: SampleLayout
  private let decoder: SampleDecoder

  private static let framesPerBlock = 8192

  /// A reader of plain samples; nil for a sound whose codec needs a decoder.
  init?(_ sound: Sound, in file: OpenFile) {
    guard let layout = sound.samples, layout.frames > 0 else { return nil }
    self.file = file
    self.layout = layout
    decoder = SampleDecoder(layout)
  }

  var frames: Int { layout.frames }

  func forEachFrame(_ body: (_ frame: Int, _ level: Float) -> Void) {
    let unit = layout.bytesPerSample * layout.channels
    let perBlock = Self.framesPerBlock / layout.framesPerUnit
    for first in stride(from: 0, to: layout.bytes.count / unit, by: perBlock) {
      let start = layout.bytes.lowerBound + first * unit
      let block = file.read(
        at: start, count: min(perBlock * unit, layout.bytes.upperBound - start))
      let frame = first * layout.framesPerUnit
      block.withUnsafeBytes { bytes in
        for index in 0..<bytes.count / unit {
          let place = frame + index * layout.framesPerUnit
          if layout.format == .ima4 {
            packets(bytes, at: index * unit).enumerated().forEach { body(place + $0, $1) }
          } else {
            body(place, level(bytes, at: index * unit))
          }
        }
      }
    }
  }

  /// The loudest channel of one instant.
  private func level(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Float {
    var level: Float = 0
    for channel in 0..<layout.channels {
      let sample = decoder.value(bytes, at: offset + channel * layout.bytesPerSample)
      level = max(level, sample.isFinite ? abs(sample) : 0)
    }
    return min(level, 1)
  }

  /// The loudest channel of each instant in a packet for every channel.
  private func packets(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> [Float] {
    var levels = [Float](repeating: 0, count: layout.framesPerUnit)
    for channel in 0..<layout.channels {
      let start = offset + channel * layout.bytesPerSample
      IMAPacket.raise(&levels, by: bytes[start..<start + layout.bytesPerSample])
    }
    return levels
  }
}
