/// A file without its private metadata: the parts of it that stay, in order, byte for byte.
package struct CleanCopy: Sendable {
  package enum Piece: Equatable, Sendable {
    /// Bytes of the source.
    case source(Range<Int>)
    /// Bytes that replace something.
    case bytes([UInt8])
  }

  /// What the copy is made of, in order.
  package private(set) var pieces: [Piece] = []
  /// What was cut, in words; empty when the source is clean as it is.
  package private(set) var removed: [String] = []

  /// Cuts by marker, chunk or block; the coded pixels are not touched.
  package init(_ source: SourceFile, kind: PictureKind) {
    switch kind {
    case .jpeg: cutJPEG(source)
    case .png: cutPNG(source)
    case .gif: cutGIF(source)
    }
  }

  /// Bytes of the copy.
  package var size: Int {
    pieces.reduce(0) { sum, piece in
      switch piece {
      case .source(let range): sum + range.count
      case .bytes(let bytes): sum + bytes.count
      }
    }
  }

  /// The copy in memory.
  package func bytes(of source: SourceFile) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(size)
    for piece in pieces {
      switch piece {
      case .source(let range): source.withBytes { result += $0[range] }
      case .bytes(let bytes): result += bytes
      }
    }
    return result
  }

  mutating func keep(_ range: Range<Int>) {
    if case .source(let last) = pieces.last, last.upperBound == range.lowerBound {
      pieces[pieces.count - 1] = .source(last.lowerBound..<range.upperBound)
    } else if !range.isEmpty {
      pieces.append(.source(range))
    }
  }

  mutating func insert(_ bytes: [UInt8]) { pieces.append(.bytes(bytes)) }

  mutating func note(_ what: String) {
    if !removed.contains(what) { removed.append(what) }
  }

  /// Cuts what stands behind the end, or behind the last part that makes sense.
  mutating func close(_ source: SourceFile, at end: Int) {
    if end < source.size { note("data behind the picture's end") }
  }
}
