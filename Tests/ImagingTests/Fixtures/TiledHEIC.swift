import Testing

@testable import Imaging
import MediaTypes

/// A HEIC whose picture is a grid of separately coded tiles, as phones write it (ISO/IEC 23008-12, 6.6.2.3).
struct TiledHEIC {
  var rows: Int
  var columns: Int
  var size: PixelSize
  /// The items that the grid is made of, by their numbers from 1; the grid's own is behind the last tile's.
  var references: [Int]
  private let tileSize: PixelSize
  private let configuration: [UInt8]
  private let tiles: [[UInt8]]

  /// Codes the parts of a picture; those at the right and below may be larger than what is shown of them.
  init(_ canvas: Canvas, tile: PixelSize, showing size: PixelSize) throws {
    (rows, columns) = (canvas.size.height / tile.height, canvas.size.width / tile.width)
    (tileSize, self.size) = (tile, size)
    var (configuration, tiles): ([UInt8], [[UInt8]]) = ([], [])
    for index in 0..<rows * columns {
      let (x, y) = (index % columns * tile.width, index / columns * tile.height)
      let part = try Foreign.file(
        canvas, "convert a.png -crop \(tile)+\(x)+\(y) +repage b.png; heif-enc b.png -o out.heic")
      configuration = try Self.box("hvcC", in: part)
      tiles.append(Array(try Self.box("mdat", in: part).dropFirst(8)))
    }
    (self.configuration, self.tiles) = (configuration, tiles)
    references = Array(1...tiles.count)
  }

  private var grid: Int { tiles.count + 1 }

  /// The file.
  var bytes: [UInt8] {
    let start = Self.box("ftyp", Array("heic\0\0\0\0mif1heic".utf8))
    let end = start.count + meta(mediaAt: 0).count + 8
    return start + meta(mediaAt: end) + Self.box("mdat", tiles.flatMap { $0 })
  }

  private func meta(mediaAt start: Int) -> [UInt8] {
    var (locations, place): ([UInt8], Int) = ([], start)
    for (index, tile) in tiles.enumerated() {
      locations += Self.short(index + 1) + Self.short(0, 0, 1) + Self.long(place, tile.count)
      place += tile.count
    }
    // In `idat`.
    locations += Self.short(grid, 1, 0, 1) + Self.long(0, 8)
    let items: [UInt8] = (1...grid).flatMap { (item: Int) -> [UInt8] in
      let kind = Array((item == grid ? "grid\0" : "hvc1\0").utf8)
      let isHidden = item == grid ? 0 : 1
      return Self.box("infe", Self.long(2 << 24 | isHidden) + Self.short(item, 0) + kind)
    }
    let properties = configuration + ispe(tileSize) + ispe(size)
    let owners: [UInt8] = (1...grid).flatMap { (item: Int) -> [UInt8] in
      Self.short(item) + (item == grid ? [1, 3] : [2, 0x81, 2])
    }
    let parts: [UInt8] = references.flatMap { (item: Int) -> [UInt8] in Self.short(item) }
    let boxes: [[UInt8]] = [
      Self.long(0),
      Self.box("hdlr", Self.long(0, 0) + Array("pict".utf8) + Self.long(0, 0, 0) + [0]),
      Self.box("pitm", Self.long(0) + Self.short(grid)),
      Self.box("iloc", Self.long(1 << 24) + [0x44, 0] + Self.short(grid) + locations),
      Self.box("iinf", Self.long(0) + Self.short(grid) + items),
      Self.box("iref", Self.long(0) + Self.box("dimg", Self.short(grid, references.count) + parts)),
      Self.box(
        "iprp", Self.box("ipco", properties) + Self.box("ipma", Self.long(0, grid) + owners)),
      Self.box(
        "idat", [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + Self.short(size.width, size.height)),
    ]
    return Self.box("meta", boxes.flatMap { $0 })
  }

  private func ispe(_ size: PixelSize) -> [UInt8] {
    Self.box("ispe", Self.long(0, size.width, size.height))
  }

  static func box(_ kind: String, _ content: [UInt8]) -> [UInt8] {
    long(content.count + 8) + Array(kind.utf8) + content
  }

  /// The first box of a kind.
  private static func box(_ kind: String, in bytes: [UInt8]) throws -> [UInt8] {
    let name = Array(kind.utf8)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: name) }) - 4
    let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    return Array(bytes[place..<place + size])
  }

  static func long(_ numbers: Int...) -> [UInt8] {
    numbers.flatMap { (number: Int) -> [UInt8] in PNGChunk.bigEndian(number) }
  }

  static func short(_ numbers: Int...) -> [UInt8] {
    numbers.flatMap { (number: Int) -> [UInt8] in [UInt8(number >> 8 & 255), UInt8(number & 255)] }
  }
}
