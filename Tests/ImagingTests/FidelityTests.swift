import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// Thumbnails beside Lanczos-3 of the full decode in 64-bit floating point, and beside libvips.
@Suite struct FidelityTests {
  /// Pictures by another program: a photograph, clouds, cloth and print.
  enum Subject: String, CaseIterable {
    case photograph, clouds, cloth, print

    func map() throws -> [UInt8] {
      switch self {
      case .photograph:
        try Tool.run("djpeg -scale 1/2 \(Tool.root.path)/assets/img/beach.jpg")
      case .clouds: try Tool.run("ppmforge -clouds -seed 3 -xsize 480 -ysize 320")
      case .cloth:
        try Tool.run("ppmpat -madras -color=rgb:60/70/80,rgb:b0/a8/90,rgb:90/60/60 400 300")
      case .print:
        try Tool.run(
          "head -40 /usr/share/common-licenses/BSD | pbmtext -builtin fixed "
            + "| pnmcut -left 0 -top 0 -width 480 -height 320 -pad | pamdepth 255 "
            + "| pgmtoppm rgb:20/24/30-ivory")
      }
    }

    func jpeg() throws -> [UInt8] { try Tool.run("cjpeg -quality 95", map()) }
    func png() throws -> [UInt8] { try Tool.run("pnmtopng -compression 1", map()) }
  }

  /// What is resampled of a JPEG, before coding loses anything: with its chroma halved, as it is
  /// coded, or whole.
  private static func resampled(
    _ bytes: [UInt8], _ options: Options, halvingChroma: Bool = true
  ) throws -> FloatPicture {
    let source = SourceFile(bytes: bytes)
    let reader = try JPEGReader(source, limits: Limits())
    let resampler = PictureRenderer(options).resampler(
      of: reader.size, try Metadata(source, kind: .jpeg, limits: Limits()))
    try reader.start(eighths: resampler.eighths, limits: Limits())
    let planes = try resampler.resample(reader, halvingChroma: halvingChroma)
    let encoded =
      halvingChroma
      ? try Encoder.jpeg(Raster(planes: planes, model: .ycc), quality: 100)
      : try Encoder.png(
        Raster(planes: [Mixing.interleaved(planes, model: .ycc)], model: .rgb))
    return try FloatPicture(decoding: encoded.bytes)
  }

  @Test func `what is resampled of JPEGs is that of floating point`() throws {
    var similarities: [Double] = []
    var differences: [Double] = []
    var losses: [Double] = []
    for subject in Subject.allCases {
      let bytes = try subject.jpeg()
      for shrink in [4, 16] {
        var options = Options()
        options.width = try Facts(SourceFile(bytes: bytes)).size.width / shrink
        let made = try Self.resampled(bytes, options, halvingChroma: false)
        let wanted = try FloatPicture(decoding: bytes).shrunk(to: made.size)
        // halving the chroma has its price in any file, even of the best quality
        let halved = try FloatPicture(decoding: Tool.run("cjpeg -quality 100", wanted.map))
        let price = halved.difference(from: wanted)
        similarities.append(made.similarity(to: wanted))
        differences.append(made.difference(from: wanted))
        losses.append(try Self.resampled(bytes, options).difference(from: wanted) - price)
        #expect(
          (similarities.last ?? 0) >= 0.965 && (losses.last ?? 9) <= 0.75, "\(subject) \(shrink)")
        if subject == .photograph { #expect(price <= 2.5) }
      }
    }
    #expect(similarities.reduce(0, +) / 8 >= 0.99)
    #expect(differences.reduce(0, +) / 8 <= 1)
    #expect(losses.reduce(0, +) / 8 <= 0.15)
  }

  @Test(arguments: Subject.allCases, [false, true])
  func `what is resampled of a PNG is that of floating point`(subject: Subject, inLight: Bool)
    throws
  {
    let source = SourceFile(bytes: try subject.png())
    var options = Options()
    (options.width, options.isLinear) = (130, inLight)
    let reader = try PNGReader(source, limits: Limits(), checking: true)
    let resampler = PictureRenderer(options).resampler(
      of: reader.size, try Metadata(source, kind: .png, limits: Limits()))
    try reader.start()
    let raster = try PictureRenderer(options).resample(resampler, reader, through: nil)
    let made = try FloatPicture(decoding: Encoder.png(raster).bytes)
    let isGraphic = subject == .cloth || subject == .print  // of few colours
    #expect((resampler.kernel == .area) == isGraphic)
    let wanted = try FloatPicture(decoding: source.read(at: 0, count: source.size)).shrunk(
      to: made.size, inLight: inLight, byArea: isGraphic)
    let (similarity, difference) = (made.similarity(to: wanted), made.difference(from: wanted))
    #expect(similarity >= 0.998 && difference <= 0.4)
  }

  @Test(arguments: Subject.allCases, [4, 16])
  func `a thumbnail is no worse than that of libvips`(subject: Subject, shrink: Int) throws {
    let bytes = try subject.jpeg()
    let full = try FloatPicture(decoding: bytes)
    let width = full.size.width / shrink
    let made = try PictureRenderer.render(bytes, ("width", "\(width)")).encoded
    let theirs = try Tool.run(
      "python -c 'import pyvips, sys; sys.stdout.buffer.write(pyvips.Image.thumbnail(\"in\", "
        + "\(width), height=9999, size=\"down\").write_to_buffer(\".jpg\", Q=82))'", bytes)
    let (ours, vips) = (try FloatPicture(decoding: made), try FloatPicture(decoding: theirs))
    let (a, b) = (
      ours.similarity(to: full.shrunk(to: ours.size)),
      vips.similarity(to: full.shrunk(to: vips.size))
    )
    #expect(a >= b - 0.005)
    #expect(made.count <= theirs.count * 11 / 10 + 300)
  }

  @Test(arguments: [37, 61, 140])
  func `fine stripes show no pattern that floating point does not`(width: Int) throws {
    // stripes that grow ever finer away from the middle: whatever aliases, does so somewhere
    let rings = Canvas(size: PixelSize(560, 400)) { x, y in
      let (dx, dy) = (Double(x - 280), Double(y - 200))
      let tone = Int(128 + 110 * cos((dx * dx + dy * dy) * .pi / 560))
      return (tone, tone, tone, 255)
    }
    let bytes = try Tool.run("cjpeg -quality 95", PortableMap.bytes(of: rings))
    var options = Options()
    options.width = width
    let made = try Self.resampled(bytes, options)
    let wanted = try FloatPicture(decoding: bytes).shrunk(to: made.size)
    let (one, two) = (made.blurred, wanted.blurred)
    let worst = zip(one, two).map { abs($0 - $1) }.max() ?? 0
    #expect(worst <= 8)
  }

  @Test func `colours differ as Sharma, Wu and Dalal say`() {
    for (one, two, wanted) in [
      (Lab(50, 2.6772, -79.7751), Lab(50, 0, -82.7485), 2.0425),
      (Lab(50, 2.5, 0), Lab(73, 25, -18), 27.1492),
      (Lab(2.0776, 0.0795, -1.135), Lab(0.9033, -0.0636, -0.5514), 0.9082),
      (Lab(60.2574, -34.0099, 36.2677), Lab(60.4626, -34.1751, 39.4387), 1.2644),
    ] { #expect(abs(one.difference(from: two) - wanted) < 0.0001) }
  }
}
