import MediaTypes

/// A picture as `img-decode` sends it: a head, a status when it is decoded, and then its rows
/// (`Sources/img-decode/picture.h`).
///
/// Nothing of it is trusted: `img-decode` reads hostile files.
final class DecodedStream {
  /// Fills a buffer with the next bytes, and returns how many there were.
  typealias Reading = (UnsafeMutableRawBufferPointer) -> Int

  /// The size of the rows, which are upright but for the EXIF orientation of a WebP.
  let size: PixelSize
  /// 3 RGB, 4 RGBA.
  let channels: Int
  /// Whether samples have 16 bits, in the machine's byte order, and not 8.
  let isWide: Bool
  /// Whether this is the first picture of an animation.
  let isAnimation: Bool
  let colourSpace: ColourSpace
  let kind: PictureKind
  private let reading: Reading
  private var isDecoded = false

  private static let magic = Array("img1".utf8)
  private static let headSize = 32

  /// Reads the head; the picture is still being decoded then.
  init(
    _ kind: PictureKind, limits: Limits, reading: @escaping Reading
  ) throws(ImagingError) {
    (self.kind, self.reading) = (kind, reading)
    guard let start = Self.take(Self.headSize, from: reading), start.starts(with: Self.magic) else {
      throw ImagingError(.unsupported, "\(kind.name) is not supported.", detail: "no img-decode")
    }
    let head = Octets(bytes: start)
    func number(_ index: Int) -> Int { head.little(at: 4 + 4 * index, count: 4) ?? 0 }
    size = PixelSize(number(0), number(1))
    (channels, isWide, isAnimation) = (number(2), number(3) == 16, number(4) != 0)
    let codePoints = Array(start[24..<28])
    guard size.width > 0, size.height > 0 else {
      colourSpace = .standard
      try awaitRows()
      throw .damaged(kind.name, "an empty picture")
    }
    try limits.check(size)
    try limits.check(
      size.pixels * channels * (isWide ? 2 : 1), against: limits.decodedBytes,
      for: "This \(kind.name)")
    guard channels == 3 || channels == 4, number(6) <= limits.ancillaryBytes,
      let profile = Self.take(number(6), from: reading)
    else { throw .damaged(kind.name, "img-decode sent an unknown head") }
    // The curves of BT.709 stand for sRGB in pictures, as all programs show them.
    let isVideo = codePoints[0] == 1 && [1, 6, 14, 15].contains(codePoints[1])
    colourSpace =
      profile.isEmpty
      ? isVideo ? .standard : ColourSpace(codePoints: codePoints) ?? .standard : .profile(profile)
  }

  /// What the samples mean.
  var model: ColourModel { ColourModel(channels: channels) }

  private var rowBytes: Int { size.width * channels * (isWide ? 2 : 1) }

  /// The rows in 8-bit samples, converted by a transform if there is one.
  func rows(through transform: ColourTransform?) -> RowSource {
    guard isWide || transform != nil else {
      return RowSource(size: size, channels: channels) { row throws(ImagingError) in
        try self.read(to: UnsafeMutableRawBufferPointer(start: row, count: self.rowBytes))
      }
    }
    var stored = [UInt8](repeating: 0, count: rowBytes)
    return RowSource(size: size, channels: channels) { row throws(ImagingError) in
      try stored.withUnsafeMutableBufferPointer { samples throws(ImagingError) in
        let bytes = UnsafeMutableRawBufferPointer(samples)
        try self.read(to: bytes)
        if let transform, let samples = bytes.baseAddress {
          transform.apply(samples, to: row, count: self.size.width)
        } else {
          for (index, sample) in bytes.bindMemory(to: UInt16.self).enumerated() {
            row[index] = UInt8((UInt32(sample) * 255 + 32_767) / 65_535)
          }
        }
      }
    }
  }

  /// Reads the whole picture and keeps nothing.
  ///
  /// - Throws: `damaged` when it is.
  func validate() throws(ImagingError) {
    var row = [UInt8](repeating: 0, count: rowBytes)
    for _ in 0..<size.height {
      try row.withUnsafeMutableBufferPointer { bytes throws(ImagingError) in
        try read(to: UnsafeMutableRawBufferPointer(bytes))
      }
    }
  }

  private func read(to row: UnsafeMutableRawBufferPointer) throws(ImagingError) {
    if !isDecoded { try awaitRows() }
    guard reading(row) == row.count else { throw endedEarly }
  }

  /// Reads the status, which is sent once the picture is decoded.
  private func awaitRows() throws(ImagingError) {
    guard let start = Self.take(8, from: reading) else { throw endedEarly }
    let head = Octets(bytes: start)
    let status = Status(rawValue: head.little(at: 0, count: 4) ?? 0)
    isDecoded = status == .decoded
    guard !isDecoded else { return }
    let text = Self.take(min(head.little(at: 4, count: 4) ?? 0, 200), from: reading) ?? []
    throw refusal(status, detail: String(decoding: text, as: UTF8.self))
  }

  private var endedEarly: ImagingError {
    .damaged(kind.name, "img-decode ended early: a limit of its memory or time, or a crash")
  }

  private static func take(_ count: Int, from reading: Reading) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let isWhole = bytes.withUnsafeMutableBytes { reading($0) == count }
    return isWhole ? bytes : nil
  }
}
