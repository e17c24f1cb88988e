/// What is wanted of a picture.
package struct Options: Hashable, Sendable {
  /// The named set of limits these options start from.
  package var profile: DeviceProfile?
  /// The longest the edges may be, in CSS pixels; multiplied by `density`.
  package var width: Int?
  package var height: Int?
  package var fit = BoxFit.contain
  /// Device pixels per CSS pixel.
  package var density = 1.0
  package var focus = FocalPoint.centre
  /// Whether pixels are averaged as light instead of as codes: exact for fine patterns, and slower.
  package var isLinear = false
  /// The most bytes the result may have; a profile's own ceiling holds beside it.
  package var maximumBytes: Int?

  package init() {}

  /// Whether the picture is wanted as it is.
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

  /// The byte ceiling: the smaller of the two.
  var ceiling: Int? { [maximumBytes, profile?.maximumBytes].compactMap(\.self).min() }

  /// Whether an animation is sent as it is: to profiles that play it, unless a smaller box is asked for.
  var keepsAnimation: Bool {
    guard let profile, profile.plays else { return false }
    return (box.width ?? 0) >= profile.box.width && (box.height ?? 0) >= profile.box.height
  }
}
