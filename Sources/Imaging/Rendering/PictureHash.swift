import Glibc
import MediaTypes
import Primitives

/// A ThumbHash (evanw.github.io/thumbhash): what a picture looks like from afar, in at most 25 bytes.
///
/// It has the proportions of the picture, its average colour and the lowest frequencies of its brightness, of two
/// differences of colours, and of its opacity.
package struct PictureHash: Sendable {
  /// The hash.
  package let bytes: [UInt8]

  /// The longest edge of the picture that a hash is made of, in pixels.
  private static let edge = 100

  /// The hash of a picture; nil if it cannot be rendered.
  package init?(_ source: SourceFile, limits: Limits = Limits()) {
    var options = Options()
    (options.width, options.height) = (Self.edge, Self.edge)
    do throws(ImagingError) {
      let small = try PictureRenderer(options, limits: limits).render(source)
      let file = SourceFile(bytes: small.bytes(from: source))
      self.init(try Raster(small: file, limits: limits))
    } catch { return nil }
  }

  /// The hash as Base64 (RFC 4648, section 4): at most 36 characters.
  package var text: String {
    let text = Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
    return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
  }

  private init(_ raster: Raster) {
    let pixels = Pixels(raster)
    let (width, height) = (pixels.width, pixels.height)
    let longest = Double(max(width, height))
    let waves = pixels.isOpaque ? 7.0 : 5.0
    let across = max(1, Int((waves * Double(width) / longest).rounded()))
    let down = max(1, Int((waves * Double(height) / longest).rounded()))
    let isLandscape = width > height
    let brightness = pixels.frequencies(\.brightness, max(3, across), max(3, down))
    let yellow = pixels.frequencies(\.yellow, 3, 3)
    let red = pixels.frequencies(\.red, 3, 3)

    var bits = HashBits()
    bits.add(brightness.average * 63, 6)
    bits.add(31.5 + 31.5 * yellow.average, 6)
    bits.add(31.5 + 31.5 * red.average, 6)
    bits.add(brightness.scale * 31, 5)
    bits.add(pixels.isOpaque ? 0 : 1, 1)
    bits.add(Double(isLandscape ? down : across), 3)
    bits.add(yellow.scale * 63, 6)
    bits.add(red.scale * 63, 6)
    bits.add(isLandscape ? 1 : 0, 1)
    var channels = [brightness, yellow, red]
    if !pixels.isOpaque {
      let opacity = pixels.frequencies(\.opacity, 5, 5)
      bits.add(opacity.average * 15, 4)
      bits.add(opacity.scale * 15, 4)
      channels.append(opacity)
    }
    for value in channels.flatMap(\.values) { bits.add(value * 15, 4) }
    bytes = bits.bytes
  }
}

extension Raster {
  /// Decodes a picture that was rendered at the size at which it is needed.
  fileprivate init(small source: SourceFile, limits: Limits) throws(ImagingError) {
    func resampler(_ size: PixelSize) -> FrameResampler {
      FrameResampler(
        Frame(of: size, width: nil, height: nil, fit: .contain, focus: .centre),
        orientation: .upright, stored: size)
    }
    switch try PictureKind(source) {
    case .png:
      let reader = try PNGReader(source, limits: limits, checking: false)
      try reader.start()
      self = try resampler(reader.size).resample(reader)
    case .gif:
      let picture = try GIFPicture(source, limits: limits)
      self = try resampler(picture.size).resample(picture.rows, inLight: false)
    default:
      let reader = try JPEGReader(source, limits: limits)
      try reader.startRows(limits: limits)
      let rows = RowSource(size: reader.size, channels: reader.components) {
        row throws(ImagingError) in try reader.readRow(to: row)
      }
      self = try resampler(reader.size).resample(rows, inLight: false)
    }
  }
}

/// The channels of a hash, each with a number for every pixel.
private struct Pixels {
  let width: Int
  let height: Int
  /// From 0 to 1.
  private(set) var brightness: [Double] = []
  /// Yellow against blue, from -1 to 1.
  private(set) var yellow: [Double] = []
  /// Red against green, from -1 to 1.
  private(set) var red: [Double] = []
  /// From 0 to 1.
  private(set) var opacity: [Double] = []

  /// Whether nothing shows through.
  var isOpaque: Bool { opacity.allSatisfy { $0 == 1 } }

  /// Grey, RGB or RGBA; where something shows through, the average colour does.
  init(_ raster: Raster) {
    (width, height) = (raster.size.width, raster.size.height)
    let (plane, channels) = (raster.planes[0], raster.model.channels)
    var (colours, average, weight) = ([SIMD4<Double>](), SIMD4<Double>(), 0.0)
    for y in 0..<height {
      for x in 0..<width {
        let start = y * plane.stride + x * channels
        func sample(_ channel: Int) -> Double { Double(plane.samples[start + channel]) / 255 }
        let colour =
          channels < 3
          ? SIMD4(sample(0), sample(0), sample(0), 1)
          : SIMD4(sample(0), sample(1), sample(2), channels == 4 ? sample(3) : 1)
        colours.append(colour)
        average += colour * colour.w
        weight += colour.w
      }
    }
    if weight > 0 { average /= weight }
    for colour in colours {
      let shown = average * (1 - colour.w) + colour * colour.w
      brightness.append((shown.x + shown.y + shown.z) / 3)
      yellow.append((shown.x + shown.y) / 2 - shown.z)
      red.append(shown.x - shown.y)
      opacity.append(colour.w)
    }
  }

  /// The frequencies of a channel: its average, the largest of the others, and these as parts of it from 0 to 1.
  func frequencies(
    _ channel: KeyPath<Pixels, [Double]>, _ across: Int, _ down: Int
  ) -> (average: Double, scale: Double, values: [Double]) {
    let samples = self[keyPath: channel]
    func wave(_ frequency: Int, _ count: Int) -> [Double] {
      (0..<count).map { cos(Double.pi * Double(frequency) * (Double($0) + 0.5) / Double(count)) }
    }
    var (average, found) = (0.0, [Double]())
    for row in 0..<down {
      let vertical = wave(row, height)
      // Those of a triangle: the higher one frequency, the lower the other.
      for column in 0..<across where column * down < across * (down - row) {
        // A picture of few pixels has no such wave, and what is computed for it would be another's.
        guard row < height, column < width else {
          found.append(0)
          continue
        }
        let horizontal = wave(column, width)
        var sum = 0.0
        for y in 0..<height {
          for x in 0..<width { sum += samples[y * width + x] * horizontal[x] * vertical[y] }
        }
        sum /= Double(width * height)
        if row == 0 && column == 0 { average = sum } else { found.append(sum) }
      }
    }
    let scale = found.map(abs).max() ?? 0
    return (average, scale, found.map { scale > 0 ? 0.5 + 0.5 / scale * $0 : 0 })
  }
}

/// Numbers of a few bits, the first in the lowest bits.
private struct HashBits {
  private(set) var bytes: [UInt8] = []
  private var count = 0

  /// Adds a number, rounded to one of so many bits.
  mutating func add(_ number: Double, _ bits: Int) {
    let value = Int(min(max(number.rounded(), 0), Double(1 << bits - 1)))
    for bit in 0..<bits {
      if count % 8 == 0 { bytes.append(0) }
      bytes[count / 8] |= UInt8(value >> bit & 1) << UInt8(count % 8)
      count += 1
    }
  }
}
