import CCodecs
import Glibc
import MediaTypes

/// Resamples rows of sRGB samples in linear light as they arrive: across first, so that the rows it
/// keeps are only as wide as the result.
final class LightResampler {
  private let size: PixelSize
  private let channels: Int
  private let columns: Weights
  private let rows: Weights
  private let reach: Range<Int>
  private let source: UnsafeMutablePointer<Float>
  private let ring: UnsafeMutablePointer<Float>
  private let blended: UnsafeMutablePointer<Float>
  private var pointers: [UnsafePointer<Float>?]
  private var arrived = 0
  private var made = 0

  /// The result; complete when `isComplete`.
  private(set) var plane: Plane

  /// For a source of that size; `channels` is 1 for grey, 3 for RGB, 4 for RGBA.
  init(_ size: PixelSize, channels: Int, columns: Weights, rows: Weights) {
    (self.size, self.channels, self.columns, self.rows) = (size, channels, columns, rows)
    reach = rows.reach
    plane = Plane(PixelSize(columns.starts.count, rows.starts.count), channels: channels)
    let sourceCount = (size.width + columns.taps) * channels
    source = .allocate(capacity: sourceCount)
    source.initialize(repeating: 0, count: sourceCount)
    ring = .allocate(capacity: rows.taps * plane.rowBytes)
    blended = .allocate(capacity: plane.rowBytes)
    pointers = Array(repeating: nil, count: rows.taps)
  }

  deinit {
    source.deallocate()
    ring.deallocate()
    blended.deallocate()
  }

  var isComplete: Bool { made == plane.size.height }

  /// Resamples the next row.
  func receive(_ row: UnsafePointer<UInt8>) {
    defer { arrived += 1 }
    guard reach.contains(arrived) else { return }
    codec_light_of_row(row, Light.ofCodes, source, size.width, Int32(channels))
    codec_light_columns(
      source, columns.values, columns.starts, Int32(columns.taps),
      ring + arrived % rows.taps * plane.rowBytes, Int32(plane.size.width), Int32(channels))
    while made < plane.size.height {
      let start = Int(rows.starts[made])
      let count = Int(rows.counts[made])
      guard start + count <= arrived + 1 else { return }
      makeRow(from: start, count)
    }
  }

  private func makeRow(from start: Int, _ count: Int) {
    for k in 0..<count {
      pointers[k] = UnsafePointer(ring + (start + k) % rows.taps * plane.rowBytes)
    }
    let firstWeight = made * rows.taps
    rows.values.withUnsafeBufferPointer { weights in
      codec_light_rows(
        pointers, weights.baseAddress.map { $0 + firstWeight }, Int32(count), blended,
        Int32(plane.rowBytes))
    }
    let target = made * plane.stride
    let width = plane.size.width
    plane.samples.withUnsafeMutableBufferPointer { samples in
      codec_light_to_row(
        blended, Light.toCodes, samples.baseAddress.map { $0 + target }, width, Int32(channels))
    }
    made += 1
  }
}

/// The transfer function of sRGB (IEC 61966-2-1) as tables.
enum Light {
  /// The linear light of each 8-bit code, from 0 to 1.
  static let ofCodes: [Float] = (0...255).map { code in
    let value = Double(code) / 255
    return Float(value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
  }

  /// The 8-bit code nearest to each of 65536 steps of light.
  static let toCodes: [UInt8] = (0...65535).map { step in
    let light = Double(step) / 65535
    let value = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    return UInt8((value * 255).rounded())
  }
}

/// Rows of a decoded picture, top to bottom, as grey, RGB or RGBA samples in sRGB.
struct RowSource {
  let size: PixelSize
  /// 1 grey, 3 RGB, 4 RGBA.
  let channels: Int
  /// Writes the next row.
  let next: (UnsafeMutablePointer<UInt8>) throws(ImagingError) -> Void

  /// Resamples the rows as they are coded, until the result is complete.
  func read(into resampler: PlaneResampler) throws(ImagingError) -> Plane {
    for _ in 0..<size.height where !resampler.isComplete {
      let row = resampler.slot
      try next(row)
      if channels == 4 { codec_premultiply(row, size.width) }
      resampler.receive(1)
    }
    return resampler.plane
  }

  /// Resamples the rows in linear light, until the result is complete.
  func read(into resampler: LightResampler) throws(ImagingError) -> Plane {
    let row = UnsafeMutablePointer<UInt8>.allocate(capacity: size.width * channels)
    defer { row.deallocate() }
    for _ in 0..<size.height where !resampler.isComplete {
      try next(row)
      resampler.receive(row)
    }
    return resampler.plane
  }
}
