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
  /// Its time zone, by its name in the IANA's database, if it has one and that was asked for.
  package let zone: String?
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
    let zone: String?
  }

  /// No devices.
  package init() {}

  /// Adds a device, whose registration's id is the greatest so far, byte by byte.
  mutating func append(
    _ registration: String, _ user: UserID, _ platform: String?, _ lane: String?,
    _ zone: String? = nil
  ) {
    let route = Route(platform: platform, lane: lane, zone: zone)
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

  /// The registrations of the devices by what `key` tells of a platform, the device's own lane, if there is one, and
  /// its time zone; without those for which that is nil.
  ///
  /// It is called once for all devices that have these in common.
  package func registrations<Key: Hashable>(
    by key: (_ platform: String?, _ lane: String?, _ zone: String?) -> Key?
  ) -> [Key: RegistrationIDs] {
    let keys = routes.map { key($0.platform, $0.lane, $0.zone) }
    if let first = keys.first, let first, keys.allSatisfy({ $0 == first }) {
      return [first: registrations]
    }
    var found: [Key: RegistrationIDs] = [:]
    for (id, index) in zip(registrations, routeIndices) {
      if let key = keys[Int(index)] { found[key, default: []].append(id) }
    }
    return found
  }

  /// The least of what `value` tells of the time zones of each user's devices; called once for each zone.
  package func least<Value: Comparable>(
    _ value: (_ zone: String?) -> Value
  ) -> [UserID: Value] {
    var zones: [String?: Value] = [:]
    let values = routes.map { route in
      if let known = zones[route.zone] { return known }
      let new = value(route.zone)
      zones[route.zone] = new
      return new
    }
    var least: [UserID: Value] = [:]
    for (user, index) in zip(users, routeIndices) {
      let value = values[Int(index)]
      least[user] = least[user].map { Swift.min($0, value) } ?? value
    }
    return least
  }

  private mutating func append(_ device: AudienceDevice) {
    append(device.registration, device.user, device.platform, device.lane, device.zone)
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
      lane: route.lane, zone: route.zone)
  }
}

extension AudienceDevice {
  fileprivate func precedes(_ other: AudienceDevice) -> Bool {
    registration.utf8.lexicographicallyPrecedes(other.registration.utf8)
  }
}
