// Compiled into the module Imaging by imaging.sh, for libFuzzer.
import MediaTypes

let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "jpeg": render, "png": render, "gif": render,
  "decoded": { bytes in
    var rest = bytes[...]
    var limits = Limits()
    limits.megapixels = 1
    let stream = try? DecodedStream(.heic, limits: limits) { buffer in
      let piece = rest.prefix(buffer.count)
      rest = rest.dropFirst(piece.count)
      buffer.copyBytes(from: piece)
      return piece.count
    }
    guard let stream else { return }
    let resampler = FrameResampler(
      Frame(of: stream.size, width: 12, height: 12, fit: .contain, focus: .centre),
      orientation: .upright, stored: stream.size)
    let transform = ColourTransform(
      stream.colourSpace, channels: stream.channels, isSixteen: stream.isWide)
    _ = try? resampler.resample(stream.rows(through: transform), inLight: bytes.count % 2 == 0)
  },
  "exif": { _ = Exif(tiff: $0) },
  "cutter": { bytes in
    let source = SourceFile(bytes: bytes)
    guard let kind = try? PictureKind(source) else { return }
    let copy = CleanCopy(source, kind: kind)
    let cut = copy.bytes(of: source)
    precondition(cut.count == copy.size)
    let again = CleanCopy(SourceFile(bytes: cut), kind: kind)
    precondition(again.bytes(of: SourceFile(bytes: cut)) == cut, "a second cut removes more")
  },
]

@Sendable private func render(_ bytes: [UInt8]) {
  let source = SourceFile(bytes: bytes)
  var limits = Limits()
  limits.megapixels = 1
  var options = Options()
  let side = bytes.count % 7 < 4 ? 12 : 40  // small enough for every scale of decoding
  (options.width, options.height) = (side, side)
  options.fit = bytes.count % 2 == 0 ? .contain : .cover
  options.isLinear = bytes.count % 3 == 0
  options.maximumBytes = bytes.count % 5 == 0 ? 900 : nil
  _ = try? PictureRenderer(options, limits: limits).render(source)
  _ = try? Facts(source, limits: limits)
}
