/// A kind of device, with what it can show.
package enum DeviceProfile: String, Sendable, CaseIterable {
  case ios, android, watch, web, thumb

  /// The box that everything fits in, in device pixels.
  package var box: PixelSize {
    switch self {
    // an open notification is as wide as a phone's screen
    case .ios: PixelSize(1170, 1170)
    case .android: PixelSize(1440, 1440)
    case .watch: PixelSize(400, 480)
    case .web: PixelSize(1920, 1920)
    case .thumb: PixelSize(160, 160)
    }
  }

  /// The most bytes: the system's own limit, or what a short look over a bad link is worth.
  package var maximumBytes: Int {
    switch self {
    case .ios: 10_000_000
    case .android: 1_000_000
    case .watch: 60_000
    case .web: 2_000_000
    case .thumb: 24_000
    }
  }

  /// Whether moving pictures are sent as they are, and GIFs at all: an attachment of iOS and a page play them,
  /// Firebase's notifications and a watch do not.
  var plays: Bool { self == .ios || self == .web }
}
