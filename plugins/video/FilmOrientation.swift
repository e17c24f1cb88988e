/// Which way up a film's pictures are shown: turned by quarters, or mirrored.
struct FilmOrientation {
  /// Where a step to the right and a step down lead: `right.x` is 1 for a picture as it is coded, -1 for a
  /// mirrored one, and 0 for a turned one.
  private let right: (x: Int, y: Int)
  private let down: (x: Int, y: Int)

  /// Reads `ffprobe`'s text of a track's matrix.
  ///
  /// As in Chromium, pictures are turned by whole quarters or not at all, and what a matrix moves is not moved.
  /// The ratio of its two scales is in the ratio of the pixels.
  init(_ text: String) {
    let one = 65536
    // Each of the three lines begins with its number.
    let numbers = text.split { $0.isWhitespace }.filter { !$0.hasSuffix(":") }.map { Int($0) }
    let steps = numbers.count == 9 ? [numbers[0], numbers[1], numbers[3], numbers[4]] : []
    let parts = steps.compactMap { part in [-one, 0, one].first { $0 == part } }.map { $0 / one }
    let isQuarter =
      parts.count == 4 && abs(parts[0]) == abs(parts[3]) && abs(parts[1]) == abs(parts[2])
      && abs(parts[0]) + abs(parts[1]) == 1
    right = isQuarter ? (parts[0], parts[1]) : (1, 0)
    down = isQuarter ? (parts[2], parts[3]) : (0, 1)
  }

  /// Whether width and height change places.
  var isTurned: Bool { right.x == 0 }

  /// The filters of `ffmpeg` that turn pictures so.
  var filters: [String] {
    (isTurned ? ["transpose=cclock_flip"] : [])
      + (right.x + down.x < 0 ? ["hflip"] : [])
      + (right.y + down.y < 0 ? ["vflip"] : [])
  }

  /// The matrix of a track header (ISO 14496-12 section 6.2.2) for pictures of a size, in 16.16 and 2.30 bits.
  func matrix(width: Int, height: Int) -> [Int] {
    let one = 65536
    func moved(_ right: Int, _ down: Int) -> Int {
      (right < 0 ? width * one : 0) + (down < 0 ? height * one : 0)
    }
    return [right.x * one, right.y * one, 0, down.x * one, down.y * one, 0]
      + [moved(right.x, down.x), moved(right.y, down.y), 1 << 30]
  }
}
