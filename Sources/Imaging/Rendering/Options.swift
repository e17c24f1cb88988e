package import MediaTypes

/// How a picture is to be rendered.
package struct Options: Hashable, Sendable {
  /// The kind of device, whose box and byte limit also apply.
  package var profile: DeviceProfile?
  /// The largest edges, in CSS pixels, which are multiplied by `density`.
  package var width: Int?
  package var height: Int?
  package var fit = BoxFit.contain
  /// Device pixels per CSS pixel.
  package var density = 1.0
  package var focus = FocalPoint.centre
  /// Whether pixels are resampled in linear light: exact for fine patterns, and slower.
  package var isLinear = false
  /// The largest result in bytes; a profile's own limit also applies.
  package var maximumBytes: Int?

  package init() {}

  /// Whether the picture is requested unchanged.
  package var areEmpty: Bool {
    profile == nil && width == nil && height == nil && maximumBytes == nil
  }

  /// The box in device pixels: the options', within the profile's.
  var box: (width: Int?, height: Int?) {
    func bound(_ edge: Int?, _ limit: Int?) -> Int? {
      let wanted = edge.map { max(1, Int((Double($0) * density).rounded())) }
      return [wanted, limit].compactMap(\.self).min()
    }
    return (bound(width, profile?.box.width), bound(height, profile?.box.height))
  }

  /// The byte limit: the smaller of the two.
  var byteLimit: Int? { [maximumBytes, profile?.maximumBytes].compactMap(\.self).min() }

  /// Whether an animation is sent unchanged: to profiles that play it, unless a smaller box is requested.
  var keepsAnimation: Bool {
    guard let profile, profile.plays else { return false }
    return (box.width ?? 0) >= profile.box.width && (box.height ?? 0) >= profile.box.height
  }

  /// Sets an option by its name in a query or on a command line.
  package mutating func set(_ name: String, _ text: String?) throws(ImagingError) {
    guard let text else { return }
    switch name {
    case "profile": profile = try Self.word(name, text)
    case "fit": fit = try Self.word(name, text)
    case "width": width = try Self.number(name, text, in: 1...30_000)
    case "height": height = try Self.number(name, text, in: 1...30_000)
    case "max-bytes": maximumBytes = try Self.number(name, text, in: 1...1_000_000_000)
    case "linear": isLinear = try Self.number(name, text, in: 0...1) == 1
    case "dpr":
      guard let value = Double(text), (0.5...4).contains(value) else {
        throw ImagingError(.invalidOption, "dpr must be a number from 0.5 to 4, not \(text).")
      }
      density = value
    case "focus":
      let parts = text.split(separator: ",").compactMap { Double($0) }
      guard parts.count == 2, parts.allSatisfy({ (0...1).contains($0) }) else {
        throw ImagingError(
          .invalidOption, "focus is two fractions of width and height such as 0.5,0.3, not \(text)."
        )
      }
      focus = FocalPoint(x: parts[0], y: parts[1])
    default: throw ImagingError(.invalidOption, "There is no option \(name).")
    }
  }

  private static func word<Value: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ text: String
  ) throws(ImagingError) -> Value {
    guard let value = Value(rawValue: text) else {
      let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw ImagingError(.invalidOption, "\(name) must be one of \(known), not \(text).")
    }
    return value
  }

  private static func number(
    _ name: String, _ text: String, in range: ClosedRange<Int>
  ) throws(ImagingError) -> Int {
    guard let value = Int(text), range.contains(value) else {
      throw ImagingError(
        .invalidOption,
        "\(name) must be a number from \(range.lowerBound) to \(range.upperBound), not \(text).")
    }
    return value
  }
}

/// A kind of device and its limits.
package enum DeviceProfile: String, Sendable, CaseIterable {
  case ios, android, watch, web, thumb

  /// The box that pictures fit in, in device pixels.
  package var box: PixelSize { limits.box }

  /// The most bytes: the system's own limit, or an acceptable time over a slow link.
  package var maximumBytes: Int { limits.bytes }

  private var limits: (box: PixelSize, bytes: Int) {
    switch self {
    // An open notification is as wide as a phone's screen.
    case .ios: (PixelSize(1170, 1170), 10_000_000)
    case .android: (PixelSize(1440, 1440), 1_000_000)
    case .watch: (PixelSize(400, 480), 60_000)
    case .web: (PixelSize(1920, 1920), 2_000_000)
    case .thumb: (PixelSize(160, 160), 24_000)
    }
  }

  /// Whether animations are sent unchanged, and GIFs at all: an attachment of iOS and a page play them,
  /// Firebase's notifications and a watch do not.
  var plays: Bool { self == .ios || self == .web }
}
