import MediaTypes

/// How a picture is fitted into a box.
package enum BoxFit: String, Sendable, CaseIterable {
  /// All of it is visible.
  case contain
  /// The box is filled, the rest is cropped.
  case cover
}

/// The point that must stay visible when a picture is cropped, as fractions of its upright size.
package struct FocalPoint: Hashable, Sendable {
  package let x: Double
  package let y: Double

  /// The middle of the picture.
  package static let centre = FocalPoint(x: 0.5, y: 0.5)
}

/// A rectangle of a picture in pixels, not necessarily whole ones.
struct Crop: Equatable, Sendable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double
}

extension Crop {
  /// All of a picture.
  init(_ size: PixelSize) {
    self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
  }
}

/// What is shown of an upright picture, and at what size.
struct Frame: Equatable, Sendable {
  /// The part that is shown, in pixels of the upright picture.
  let window: Crop
  /// The size it is shown at, never larger than the window.
  let size: PixelSize

  /// Fits a picture into a box; nil is an edge without a limit.
  ///
  /// `cover` fills the box and crops the rest around the focal point; it needs both edges.
  init(of picture: PixelSize, width: Int?, height: Int?, fit: BoxFit, focus: FocalPoint) {
    guard fit == .cover, let width, let height else {
      let scale = min(
        1, width.map { Double($0) / Double(picture.width) } ?? 1,
        height.map { Double($0) / Double(picture.height) } ?? 1)
      window = Crop(picture)
      size = PixelSize(
        Self.scaled(picture.width, by: scale), Self.scaled(picture.height, by: scale))
      return
    }
    let across = Double(picture.width) / Double(width)
    let down = Double(picture.height) / Double(height)
    // The box is made smaller rather than the picture larger.
    let shrink = min(1, across, down)
    size = PixelSize(Self.scaled(width, by: shrink), Self.scaled(height, by: shrink))
    let factor = min(
      Double(picture.width) / Double(size.width), Double(picture.height) / Double(size.height))
    let visible = (
      width: min(Double(picture.width), Double(size.width) * factor),
      height: min(Double(picture.height), Double(size.height) * factor)
    )
    window = Crop(
      x: Self.start(of: visible.width, in: picture.width, around: focus.x),
      y: Self.start(of: visible.height, in: picture.height, around: focus.y),
      width: visible.width, height: visible.height)
  }

  private static func scaled(_ edge: Int, by scale: Double) -> Int {
    max(1, Int((Double(edge) * scale).rounded()))
  }

  private static func start(of part: Double, in whole: Int, around focus: Double) -> Double {
    min(max(0, focus * Double(whole) - part / 2), Double(whole) - part)
  }
}

extension Orientation {
  /// Where a rectangle of the upright picture is in the stored pixels of a picture of that size.
  func stored(_ window: Crop, in size: PixelSize) -> Crop {
    var result = window
    if isTransposing {
      result = Crop(x: window.y, y: window.x, width: window.height, height: window.width)
    }
    if readsFromRight { result.x = Double(size.width) - result.x - result.width }
    if readsFromBelow { result.y = Double(size.height) - result.y - result.height }
    return result
  }
}
