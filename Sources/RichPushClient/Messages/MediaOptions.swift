/// How a notification's media is cut to a device.
public struct MediaOptions: Sendable, Equatable {
  /// How a picture fills a box of another shape.
  public enum Fit: String, Sendable {
    /// All of it, inside the box.
    case contain
    /// The whole box, and what hangs over is cut off.
    case cover
  }

  /// A named set of options of the server's, such as `ios` or `thumb`.
  public var profile: String?
  /// The width of the box, in points.
  public var width: Int?
  /// The height of the box, in points.
  public var height: Int?
  /// How a picture fills the box.
  public var fit: Fit?
  /// Pixels per point of the screen.
  public var scale: Double?
  /// Options of the rich type's own, such as `view=waveform` for a sound.
  public var others: [String: String]

  /// The media as it was published.
  public static let original = MediaOptions()

  /// Options; what is left out is left to the server.
  public init(
    profile: String? = nil, width: Int? = nil, height: Int? = nil, fit: Fit? = nil,
    scale: Double? = nil, others: [String: String] = [:]
  ) {
    self.profile = profile
    self.width = width
    self.height = height
    self.fit = fit
    self.scale = scale
    self.others = others
  }

  var query: [(name: String, value: String)] {
    let known: [(name: String, value: String?)] = [
      ("profile", profile), ("width", width.map(String.init)), ("height", height.map(String.init)),
      ("fit", fit?.rawValue), ("dpr", scale.map { "\($0)" }),
    ]
    return known.compactMap { pair in pair.value.map { (pair.name, $0) } }
      + others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
