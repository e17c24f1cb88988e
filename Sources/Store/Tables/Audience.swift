/// Registrations that carry every tag of `with` and none of `without`.
package struct TagClause: Sendable, Hashable {
  /// The tags a registration must have.
  package let with: [String]
  /// The tags it must not have.
  package let without: [String]

  /// Asks for registrations by their tags.
  package init(with: [String], without: [String] = []) {
    self.with = with
    self.without = without
  }
}

/// A registered device, as far as an audience is concerned.
package struct Device: Sendable, Hashable {
  /// The id of its registration.
  package let registration: String
  /// The user it belongs to.
  package let user: UserID
  /// The push service that reaches it, or nil until the device has told it.
  package let platform: String?
}

extension Store {
  /// The devices that satisfy at least one of the clauses, each once, by registration id.
  ///
  /// A clause costs as much as the rarest of its `with` tags has devices; one without such a tag
  /// costs as much as there are devices.
  package func devices(matching clauses: [TagClause]) throws -> [Device] {
    try database.read { connection in
      var devices: Set<Device> = []
      for clause in clauses { devices.formUnion(try connection.devices(matching: clause)) }
      return devices.sorted { $0.registration < $1.registration }
    }
  }

  /// The users with a device that carries every tag of `with` and none of `without`.
  package func users(with: [String], without: [String]) throws -> [UserID] {
    let devices = try database.read { connection in
      try connection.devices(matching: TagClause(with: with, without: without))
    }
    return Set(devices.map(\.user)).sorted()
  }
}

extension Connection {
  func devices(matching clause: TagClause) throws -> [Device] {
    let rarest = try clause.with.min { try count(of: $0) < count(of: $1) }
    let others = clause.with.filter { $0 != rarest }
    // CROSS JOIN keeps SQLite's planner from starting at the registrations.
    var sql =
      if rarest == nil {
        "SELECT id, user, platform FROM registration WHERE true"
      } else {
        """
        SELECT id, user, platform
        FROM registration_tag AS rarest CROSS JOIN registration ON id = rarest.registration
        WHERE rarest.tag = ?
        """
      }
    let carries = "EXISTS (SELECT 1 FROM registration_tag WHERE tag = ? AND registration = id)"
    for _ in others { sql += " AND " + carries }
    for _ in clause.without { sql += " AND NOT " + carries }
    let values = (rarest.map { [$0] } ?? []) + others + clause.without
    return try all(sql, values: values) { row in
      Device(registration: try row.next(), user: try row.next(), platform: try row.next())
    }
  }

  /// How many devices carry a tag; a common one is not counted to its end.
  private func count(of tag: String) throws -> Int {
    try value(
      "SELECT count(*) FROM (SELECT 1 FROM registration_tag WHERE tag = ? LIMIT 1000)", tag) ?? 0
  }
}
