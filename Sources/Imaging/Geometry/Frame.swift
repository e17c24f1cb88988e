/// What is shown of an upright picture, and at what size.
struct Frame: Equatable, Sendable {
  /// The part that is shown, in pixels of the upright picture.
  let window: Crop
  /// The size it is shown at: never larger than the window.
  let size: PixelSize

  /// Fits a picture into a box; an edge of the box that is nil does not bind.
  ///
  /// `cover` fills the box and cuts what hangs over, around the focal point; it needs both edges.
  init(of picture: PixelSize, width: Int?, height: Int?, fit: BoxFit, focus: FocalPoint) {
    if fit == .cover, let width, let height {
      self.init(covering: PixelSize(width, height), of: picture, focus: focus)
    } else {
      self.init(containing: picture, width: width, height: height)
    }
  }

  private init(containing picture: PixelSize, width: Int?, height: Int?) {
    let across = width.map { Double($0) / Double(picture.width) } ?? 1
    let down = height.map { Double($0) / Double(picture.height) } ?? 1
    let scale = min(1, across, down)
    window = Crop(picture)
    size = PixelSize(
      Self.scaled(picture.width, by: scale), Self.scaled(picture.height, by: scale))
  }

  private init(covering box: PixelSize, of picture: PixelSize, focus: FocalPoint) {
    let across = Double(picture.width) / Double(box.width)
    let down = Double(picture.height) / Double(box.height)
    // the box is made smaller rather than the picture larger
    let shrink = min(1, across, down)
    size = PixelSize(Self.scaled(box.width, by: shrink), Self.scaled(box.height, by: shrink))
    let factor = min(
      Double(picture.width) / Double(size.width), Double(picture.height) / Double(size.height))
    let width = min(Double(picture.width), Double(size.width) * factor)
    let height = min(Double(picture.height), Double(size.height) * factor)
    window = Crop(
      x: Self.start(of: width, in: picture.width, around: focus.x),
      y: Self.start(of: height, in: picture.height, around: focus.y),
      width: width, height: height)
  }

  private static func scaled(_ edge: Int, by scale: Double) -> Int {
    max(1, Int((Double(edge) * scale).rounded()))
  }

  private static func start(of part: Double, in whole: Int, around focus: Double) -> Double {
    min(max(0, focus * Double(whole) - part / 2), Double(whole) - part)
  }
}
