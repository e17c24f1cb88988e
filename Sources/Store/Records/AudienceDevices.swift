/// A registered device that matches an audience.
package struct AudienceDevice: Sendable, Hashable {
  /// The id of its registration.
  package let registration: String
  /// The user it belongs to.
  package let user: UserID
  /// The push service that reaches it, or nil until the device has named it.
  package let platform: String?
  /// The lane that sends to it, or nil for that of the platform.
  package let lane: String?
}

/// The registered devices that match an audience, each once, by the ids of their registrations.
///
/// There may be a million; each takes about 55 bytes.
package struct AudienceDevices: Sendable {
  private var registrations = RegistrationIDs()
  /// The users whom they belong to, in the same order.
  package private(set) var users: [UserID] = []
  /// Indices of ``routes``.
  private var routeIndices: [Int32] = []
  private var routes: [Route] = []
  private var known: [Route: Int32] = [:]

  /// What many devices have in common.
  private struct Route: Hashable {
    let platform: String?
    let lane: String?
  }

  /// No devices.
  package init() {}

  /// Adds a device, whose registration's id is the greatest so far, byte by byte.
  mutating func append(
    _ registration: String, _ user: UserID, _ platform: String?, _ lane: String?
  ) {
    let route = Route(platform: platform, lane: lane)
    let isSame = routeIndices.last.map { routes[Int($0)] == route } ?? false
    let index = isSame ? routeIndices.last : known[route]
    if let index {
      routeIndices.append(index)
    } else {
      routeIndices.append(Int32(routes.count))
      known[route] = Int32(routes.count)
      routes.append(route)
    }
    registrations.append(registration)
    users.append(user)
  }

  /// The devices of both, each once.
  func union(_ other: AudienceDevices) -> AudienceDevices {
    if isEmpty { return other }
    var all = AudienceDevices()
    var rest = other[...]
    for device in self {
      while let next = rest.first, next.precedes(device) {
        all.append(next)
        rest.removeFirst()
      }
      if rest.first?.registration == device.registration { rest.removeFirst() }
      all.append(device)
    }
    for device in rest { all.append(device) }
    return all
  }

  /// Those of some users.
  package func ofUsers(_ isIncluded: (UserID) -> Bool) -> AudienceDevices {
    var some = AudienceDevices()
    for (index, user) in users.enumerated() where isIncluded(user) { some.append(self[index]) }
    return some
  }

  /// The number of devices of each platform.
  package var counts: [String?: Int] {
    var counts = [Int](repeating: 0, count: routes.count)
    for index in routeIndices { counts[Int(index)] += 1 }
    return Dictionary(zip(routes.map(\.platform), counts), uniquingKeysWith: +)
  }

  /// The registrations of the devices to which each lane sends; `lane` tells that of a platform and the device's own
  /// lane, if there is one.
  package func registrations(
    byLane lane: (_ platform: String?, _ own: String?) -> String?
  ) -> [String: RegistrationIDs] {
    let lanes = routes.map { lane($0.platform, $0.lane) }
    if let first = lanes.first, let first, lanes.allSatisfy({ $0 == first }) {
      return [first: registrations]
    }
    var found: [String: RegistrationIDs] = [:]
    for (id, index) in zip(registrations, routeIndices) {
      if let lane = lanes[Int(index)] { found[lane, default: []].append(id) }
    }
    return found
  }

  private mutating func append(_ device: AudienceDevice) {
    append(device.registration, device.user, device.platform, device.lane)
  }
}

extension AudienceDevices: RandomAccessCollection {
  /// The bounds of its positions.
  package var startIndex: Int { 0 }
  package var endIndex: Int { users.count }

  package subscript(index: Int) -> AudienceDevice {
    let route = routes[Int(routeIndices[index])]
    return AudienceDevice(
      registration: registrations[index], user: users[index], platform: route.platform,
      lane: route.lane)
  }
}

extension AudienceDevice {
  fileprivate func precedes(_ other: AudienceDevice) -> Bool {
    registration.utf8.lexicographicallyPrecedes(other.registration.utf8)
  }
}
