/// A registered device that matches an audience.
package struct AudienceDevice: Sendable, Hashable {
  /// The id of its registration.
  package let registration: String
  /// The user it belongs to.
  package let user: UserID
  private let route: Route

  /// The push service that reaches it, or nil until the device has named it.
  package var platform: String? { route.platform }
  /// The lane that sends to it, or nil for that of the platform.
  package var lane: String? { route.lane }

  /// What many devices have in common, once in memory for all of them.
  fileprivate final class Route: Sendable, Hashable {
    let platform: String?
    let lane: String?

    init(_ platform: String?, _ lane: String?) { (self.platform, self.lane) = (platform, lane) }

    static func == (one: Route, other: Route) -> Bool {
      one.platform == other.platform && one.lane == other.lane
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(platform)
      hasher.combine(lane)
    }
  }

  fileprivate init(_ registration: String, _ user: UserID, _ route: Route) {
    (self.registration, self.user, self.route) = (registration, user, route)
  }
}

/// Makes the devices of a query, of which there may be a million.
struct AudienceDevices {
  private var routes: Set<AudienceDevice.Route> = []
  private var last = AudienceDevice.Route(nil, nil)

  /// The device of a row.
  mutating func device(
    _ registration: String, _ user: UserID, _ platform: String?, _ lane: String?
  ) -> AudienceDevice {
    if last.platform != platform || last.lane != lane {
      last = routes.insert(AudienceDevice.Route(platform, lane)).memberAfterInsert
    }
    return AudienceDevice(registration, user, last)
  }
}
