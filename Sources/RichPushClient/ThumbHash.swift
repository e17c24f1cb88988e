#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// A ThumbHash (evanw.github.io/thumbhash): what a picture looks like from afar.
///
/// ```swift
/// let notification = try await client.details(7)
/// if let hash = ThumbHash(notification.details.thumbHash.text ?? "") {
///   print(hash.picture().width)
/// }
/// ```
public struct ThumbHash: Sendable, Equatable {
  /// The longest hash, in bytes.
  private static let longest = 36

  private let bytes: [UInt8]

  /// Reads a hash in Base64; nil if it is none.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.longest * 4 / 3, let data = Data(base64Encoded: text) else {
      return nil
    }
    bytes = Array(data)
    guard bytes.count >= 5, bytes.count >= header.size + (frequencies + 1) / 2 else { return nil }
  }

  /// A small picture: rows of red, green, blue and opacity, from 0 to 255, from the top.
  public struct Picture: Sendable, Equatable {
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// Four bytes for each pixel, not multiplied by the opacity.
    public let rgba: [UInt8]
  }

  /// The picture, 32 pixels along its longer edge.
  ///
  /// ```swift
  /// if let picture = ThumbHash("1QcSHQRnh493V4dIh4eXh1h4kJUI")?.picture() { print(picture.width, picture.height) }
  /// ```
  public func picture() -> Picture {
    let header = self.header
    let ratio = Double(max(header.columns, 1)) / Double(max(header.rows, 1))
    let width = max(1, Int((ratio > 1 ? 32 : 32 * ratio).rounded()))
    let height = max(1, Int((ratio > 1 ? 32 / ratio : 32).rounded()))
    let channels = self.channels
    var rgba: [UInt8] = []
    rgba.reserveCapacity(width * height * 4)
    for y in 0..<height {
      for x in 0..<width {
        let values = channels.map { channel in
          channel.value(
            across: (Double(x) + 0.5) / Double(width), down: (Double(y) + 0.5) / Double(height))
        }
        let blue = values[0] - 2 / 3 * values[1]
        let red = (3 * values[0] - blue + values[2]) / 2
        for part in [red, red - values[2], blue, values[3]] {
          rgba.append(UInt8(min(max(part, 0), 1) * 255))
        }
      }
    }
    return Picture(width: width, height: height, rgba: rgba)
  }

  // MARK: - Format

  /// The numbers before the frequencies.
  private struct Header {
    let size: Int
    let isOpaque: Bool
    /// The frequencies of the brightness along each edge, which also tell the proportions.
    let columns: Int
    let rows: Int
  }

  private var header: Header {
    let isOpaque = bytes[2] & 0x80 == 0
    let isLandscape = bytes[4] & 0x80 != 0
    let (longer, shorter) = (isOpaque ? 7 : 5, Int(bytes[3] & 7))
    return Header(
      size: isOpaque ? 5 : 6, isOpaque: isOpaque, columns: isLandscape ? longer : shorter,
      rows: isLandscape ? shorter : longer)
  }

  /// The number of frequencies, of half a byte each.
  private var frequencies: Int {
    let header = self.header
    return Channel.places(max(3, header.columns), max(3, header.rows)).count
      + 2 * Channel.places(3, 3).count + (header.isOpaque ? 0 : Channel.places(5, 5).count)
  }

  /// A number of the header: so many bits from one on.
  private func number(_ start: Int, _ bits: Int) -> Double {
    let value = (start..<start + bits).reversed().reduce(0) { value, bit in
      value << 1 | Int(bytes[bit / 8] >> UInt8(bit % 8) & 1)
    }
    return Double(value)
  }

  /// Brightness, yellow against blue, red against green, and opacity.
  private var channels: [Channel] {
    let header = self.header
    var next = header.size * 8
    func channel(_ columns: Int, _ rows: Int, _ average: Double, _ scale: Double) -> Channel {
      let places = Channel.places(columns, rows)
      defer { next += places.count * 4 }
      let parts = places.indices.map { (number(next + $0 * 4, 4) / 7.5 - 1) * scale }
      return Channel(average: average, waves: Array(zip(places, parts)))
    }
    return [
      channel(max(3, header.columns), max(3, header.rows), number(0, 6) / 63, number(18, 5) / 31),
      channel(3, 3, number(6, 6) / 31.5 - 1, number(27, 6) / 63 * 1.25),
      channel(3, 3, number(12, 6) / 31.5 - 1, number(33, 6) / 63 * 1.25),
      header.isOpaque
        ? Channel(average: 1, waves: [])
        : channel(5, 5, number(40, 4) / 15, number(44, 4) / 15),
    ]
  }

  /// One of the numbers of each pixel, as a sum of waves.
  private struct Channel {
    typealias Place = (column: Int, row: Int)

    let average: Double
    let waves: [(place: Place, part: Double)]

    /// The frequencies that a hash has of a channel, in its order.
    static func places(_ columns: Int, _ rows: Int) -> [Place] {
      (0..<rows).flatMap { row in
        ((row == 0 ? 1 : 0)..<columns).filter { $0 * rows < columns * (rows - row) }
          .map { ($0, row) }
      }
    }

    /// The number at a place, in fractions of the edges.
    func value(across: Double, down: Double) -> Double {
      waves.reduce(average) { sum, wave in
        sum + 2 * wave.part * cos(.pi * Double(wave.place.column) * across)
          * cos(.pi * Double(wave.place.row) * down)
      }
    }
  }
}
