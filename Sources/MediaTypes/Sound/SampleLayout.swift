/// Where plain samples lie in a file and how each is written.
package struct SampleLayout: Sendable, Hashable {
  /// How a sample is written.
  package enum Format: Sendable {
    /// Whole numbers around 128.
    case unsignedInteger
    /// Whole numbers around 0.
    case signedInteger
    /// IEEE 754 numbers between -1 and 1.
    case float
    /// One byte of G.711, European curve.
    case alaw
    /// One byte of G.711, American curve.
    case ulaw
    /// Packets of 34 bytes with 64 samples of one channel (Apple's IMA 4:1).
    case ima4
  }

  /// The stretch of the file, whole frames only.
  package let bytes: Range<Int>
  /// How a sample is written.
  package let format: Format
  /// 1, 2, 3, 4 or 8; with IMA 4:1 the 34 bytes of a packet.
  package let bytesPerSample: Int
  /// Whether the most significant byte comes first.
  package let isBigEndian: Bool
  /// Samples that belong to one instant.
  package let channels: Int

  /// A layout cut to whole frames; nil for a width that no format has.
  init?(
    bytes: Range<Int>, format: Format, bytesPerSample: Int, isBigEndian: Bool, channels: Int
  ) {
    let widths: Set =
      switch format {
      case .alaw, .ulaw, .unsignedInteger: [1]
      case .signedInteger: [1, 2, 3, 4]
      case .float: [4, 8]
      case .ima4: [34]
      }
    guard widths.contains(bytesPerSample), (1...255).contains(channels) else { return nil }
    let frame = bytesPerSample * channels
    self.bytes = bytes.lowerBound..<bytes.lowerBound + bytes.count / frame * frame
    self.format = format
    self.bytesPerSample = bytesPerSample
    self.isBigEndian = isBigEndian
    self.channels = channels
  }

  /// How many instants were sampled.
  package var frames: Int { bytes.count / (bytesPerSample * channels) * framesPerUnit }

  /// How many instants the smallest readable unit holds: 64 in a packet of IMA 4:1, else one.
  package var framesPerUnit: Int { format == .ima4 ? 64 : 1 }
}
