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
  /// The indices of ``routes`` by zone, for each of ``services``: most devices need one look-up, by the zone.
  private var known: [[String?: Int32]] = []
  private var services: [Service: Int] = [:]
  private var last: (service: Service, number: Int)?

  /// What many devices have in common.
  private struct Route: Equatable {
    let service: Service
    let zone: String?
  }

  private struct Service: Hashable {
    let platform: String?
    let lane: String?
  }

  /// No devices.
  package init() {}

  /// Adds a device, whose registration's id is the greatest so far, byte by byte.
  mutating func append(
    _ registration: String, _ user: UserID, _ platform: String?, _ lane: String?,
    _ zone: String? = nil
  ) {
    let route = Route(service: Service(platform: platform, lane: lane), zone: zone)
    if let last = routeIndices.last, routes[Int(last)] == route {
      routeIndices.append(last)
    } else {
      routeIndices.append(index(of: route))
    }
    registrations.append(registration)
    users.append(user)
  }

  private mutating func index(of route: Route) -> Int32 {
    let number = number(of: route.service)
    if let index = known[number][route.zone] { return index }
    let index = Int32(routes.count)
    known[number][route.zone] = index
    routes.append(route)
    return index
  }

  private mutating func number(of service: Service) -> Int {
    if let last, last.service == service { return last.number }
    let number = services[service] ?? services.count
    if number == services.count { known.append([:]) }
    services[service] = number
    last = (service, number)
    return number
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
    return Dictionary(zip(routes.map(\.service.platform), counts), uniquingKeysWith: +)
  }

  /// The registrations of the devices by what `key` tells of a platform, the device's own lane, if there is one, and
  /// its time zone; without those for which that is nil.
  ///
  /// It is called once for all devices that have these in common.
  package func registrations<Key: Hashable>(
    by key: (_ platform: String?, _ lane: String?, _ zone: String?) -> Key?
  ) -> [Key: RegistrationIDs] {
    let keys = routes.map { key($0.service.platform, $0.service.lane, $0.zone) }
    if let first = keys.first, let first, keys.allSatisfy({ $0 == first }) {
      return [first: registrations]
    }
    // Where each key's are, so that a key is hashed once for each route.
    var places: [Key: Int] = [:]
    let indices = keys.map { key in
      key.map { key in
        let place = places[key] ?? places.count
        places[key] = place
        return place
      }
    }
    var found = [RegistrationIDs](repeating: [], count: places.count)
    for (id, route) in zip(registrations, routeIndices) {
      if let place = indices[Int(route)] { found[place].append(id) }
    }
    return places.mapValues { found[$0] }
  }

  /// The registrations of the devices, which have `times` in the same order, by what `key` tells of each; without those
  /// for which that is nil.
  package func registrations<Time, Key: Hashable>(
    with times: [Time], by key: (_ platform: String?, _ lane: String?, _ time: Time) -> Key?
  ) -> [Key: RegistrationIDs] {
    var found: [Key: RegistrationIDs] = [:]
    for (index, id) in registrations.enumerated() {
      let route = routes[Int(routeIndices[index])]
      if let key = key(route.service.platform, route.service.lane, times[index]) {
        found[key, default: []].append(id)
      }
    }
    return found
  }

  /// What `value` tells of the platform and the time zone of each device; called once for all that have these in
  /// common.
  package func values<Value>(
    _ value: (_ platform: String?, _ zone: String?) -> Value
  ) -> [Value] {
    let values = routes.map { value($0.service.platform, $0.zone) }
    return routeIndices.map { values[Int($0)] }
  }

  /// The time zones that devices have.
  package var zones: Set<String> { Set(routes.compactMap(\.zone)) }

  /// The least of what `value` tells of the time zones of each user's devices.
  package func least<Value: Comparable>(
    _ value: (_ zone: String?) -> Value
  ) -> [UserID: Value] {
    let values = routes.map { value($0.zone) }
    var least = [UserID: Value](minimumCapacity: users.count)
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
      registration: registrations[index], user: users[index], platform: route.service.platform,
      lane: route.service.lane, zone: route.zone)
  }
}

extension AudienceDevice {
  fileprivate func precedes(_ other: AudienceDevice) -> Bool {
    registration.utf8.lexicographicallyPrecedes(other.registration.utf8)
  }
}
