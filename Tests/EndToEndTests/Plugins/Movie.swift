import Foundation

/// An MP4 or QuickTime film whose boxes a test changes; its samples come before its index, as ffmpeg writes it.
struct Movie {
  private(set) var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(_ file: URL) throws { self.init([UInt8](try Data(contentsOf: file))) }

  /// Where the content of a box is, by the names of those around it; `track` counts the boxes named `trak`.
  private func content(_ names: [String], track: Int) -> Range<Int>? {
    names.reduce(0..<bytes.count) { (range: Range<Int>?, name) in
      guard let range else { return nil }
      var found: [Range<Int>] = []
      var start = range.lowerBound
      while start + 8 <= range.upperBound, case let size = number(at: start), size >= 8 {
        if Array(bytes[start + 4..<start + 8]) == Array(name.utf8) {
          found.append(start + 8..<start + size)
        }
        start += size
      }
      let index = name == "trak" ? track : 0
      return found.indices.contains(index) ? found[index] : nil
    }
  }

  private func number(at offset: Int) -> Int {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private mutating func write(_ numbers: [Int], at offset: Int) {
    bytes.replaceSubrange(offset..<offset + numbers.count * 4, with: Self.big(numbers))
  }

  private static func big(_ numbers: [Int]) -> [UInt8] {
    numbers.flatMap { number in
      (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
  }

  /// Sets a track's matrix without its last column: a, b, c, d, x, y.
  mutating func setMatrix(_ parts: [Double], track: Int = 0) {
    guard let header = content(["moov", "trak", "tkhd"], track: track) else { return }
    let fixed = parts.map { Int(($0 * 65536).rounded()) }
    write(
      [fixed[0], fixed[1], 0, fixed[2], fixed[3], 0, fixed[4], fixed[5], 1 << 30],
      at: header.lowerBound + 40)
  }

  /// Sets how wide and high its pixels are, where the container says it.
  mutating func setPixelRatio(_ width: Int, _ height: Int) {
    guard let place = Data(bytes).range(of: Data("pasp".utf8)) else { return }
    write([width, height], at: place.upperBound)
  }

  /// The container says nothing about its pixels any more.
  mutating func removePixelRatio() {
    guard let place = Data(bytes).range(of: Data("pasp".utf8)) else { return }
    bytes.replaceSubrange(place, with: Array("free".utf8))
  }

  /// Gives a track's samples another name, and hides what says how they are coded.
  mutating func setCode(_ code: String, track: Int) {
    guard let entries = content(["moov", "trak", "mdia", "minf", "stbl", "stsd"], track: track)
    else { return }
    bytes.replaceSubrange(entries.lowerBound + 12..<entries.lowerBound + 16, with: Array(code.utf8))
    for name in ["esds", "wave"] {
      while let place = Data(bytes[entries]).range(of: Data(name.utf8)) {
        let start = entries.lowerBound + place.lowerBound
        bytes.replaceSubrange(start..<start + 4, with: Array("skip".utf8))
      }
    }
  }

  /// A piece of a film that an edit list shows; a gap if it has no start.
  struct Edit {
    /// Milliseconds.
    let duration: Int
    /// Milliseconds from the first picture.
    let start: Int?
  }

  /// Replaces a track's edit list.
  mutating func setEdits(_ edits: [Edit], track: Int = 0, rate: Int = 65536) {
    guard let media = content(["moov", "trak", "mdia", "mdhd"], track: track),
      let movie = content(["moov", "mvhd"], track: 0),
      let old = content(["moov", "trak", "edts"], track: track),
      let list = content(["moov", "trak", "edts", "elst"], track: track)
    else { return }
    let (scale, units) = (number(at: media.lowerBound + 12), number(at: movie.lowerBound + 12))
    // The first picture is shown later than it is decoded.
    let first = number(at: list.lowerBound + 12)
    let entries = edits.flatMap { edit in
      Self.big([
        edit.duration * units / 1000, edit.start.map { first + $0 * scale / 1000 } ?? -1, rate,
      ])
    }
    let box =
      Self.big([entries.count + 16]) + Array("elst".utf8) + Self.big([0, edits.count]) + entries
    let growth = box.count - old.count
    let around = [["moov"], ["moov", "trak"], ["moov", "trak", "edts"]]
    for place in around.compactMap({ content($0, track: track) }) {
      // All places are before the list, so that none moves.
      write([place.count + 8 + growth], at: place.lowerBound - 8)
    }
    bytes.replaceSubrange(old, with: box)
  }
}
