extension SQLiteConnection {
  func devices(matching clause: TagClause, withZones: Bool) throws -> AudienceDevices {
    let rarest = try clause.with.min { try count(of: $0) < count(of: $1) }
    let others = clause.with.filter { $0 != rarest }
    // CROSS JOIN fixes the order: SQLite's planner must not start with all registrations.
    let columns = "id, user_id, platform, lane, \(withZones ? "time_zone" : "NULL")"
    var sql =
      if rarest == nil {
        "SELECT \(columns) FROM registration INDEXED BY registration_in_order WHERE ended IS NULL"
      } else {
        """
        SELECT \(columns)
        FROM registration_tag AS rarest
          CROSS JOIN registration INDEXED BY registration_in_order ON id = rarest.registration
        WHERE rarest.tag = $1 AND ended IS NULL
        """
      }
    let values = (rarest.map { [$0] } ?? []) + others + clause.without
    for number in values.indices.dropFirst(rarest == nil ? 0 : 1) {
      let isExcluded = number >= values.count - clause.without.count
      sql += """
         AND\(isExcluded ? " NOT" : "") EXISTS (
          SELECT 1 FROM registration_tag WHERE tag = $\(number + 1) AND registration = id)
        """
    }
    // The indexes have them in this order.
    sql += " ORDER BY \(rarest == nil ? "id" : "rarest.registration")"
    var devices = AudienceDevices()
    _ = try rows(sql, values: values, limit: .max) { row in
      devices.append(
        try row.next(), try row.next(), try row.next(), try row.next(), try row.next())
    }
    return devices
  }
}
