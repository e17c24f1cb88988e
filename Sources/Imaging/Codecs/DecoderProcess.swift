import CCodecs
import Primitives

/// A running `img-decode`, which decodes HEIF, AVIF and WebP in a process of its own; it ends with this object.
private final class DecoderProcess {
  private let process: Int32
  private let output: FileDescriptor

  /// Starts to decode a file; nil when the program is missing, or the picture is in memory.
  init?(_ source: SourceFile) {
    let file = source.withCodecSource(\.fd)
    var output: Int32 = -1
    let process = file < 0 ? -1 : codec_decoder_start(file, &output)
    guard process > 0, let output = FileDescriptor(owning: output) else { return nil }
    (self.process, self.output) = (process, output)
  }

  deinit { codec_decoder_end(process) }

  /// Fills a buffer; returns fewer bytes where the output ends.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var filled = 0
    while filled < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      guard let count = try? output.read(into: rest), count > 0 else { break }
      filled += count
    }
    return filled
  }
}

extension DecodedStream {
  /// Starts to decode a file in a process of its own.
  convenience init(
    _ source: SourceFile, _ kind: PictureKind, limits: Limits
  ) throws(ImagingError) {
    let process = DecoderProcess(source)
    try self.init(kind, limits: limits) { process?.read(into: $0) ?? 0 }
  }
}
