/// A connection, or a transaction on it.
protocol PostgresQueryable: Queryable where ResultRow == PostgresRow {
  /// Runs a statement.
  func execute(_ sql: String, _ values: [any Parameter]) throws(StoreError) -> PostgresResult
}

extension PostgresQueryable {
  func rows<T>(
    _ sql: String, values: [any Parameter], limit: Int, read: (inout PostgresRow) throws -> T
  ) throws -> [T] {
    try execute(sql, values).map(limit: limit, read)
  }

  /// Runs a statement and returns how many rows it changed.
  @discardableResult
  func run(_ sql: String, values: [any Parameter]) throws -> Int {
    try execute(sql, values).changedRows
  }
}

// MARK: - Parts of statements

extension PostgresQueryable {
  func isIn(_ parameter: String) -> String { "= ANY(\(parameter))" }

  // The index has its digest: an endpoint of Web Push may be longer than an index entry.
  func isHandle(_ parameter: String) -> String {
    "md5(handle) = md5(\(parameter)) AND handle = \(parameter)"
  }

  func isAmong(_ query: String, of table: String, key: [String]) -> String {
    // The physical address of a row that nobody changes any more.
    "ctid = ANY(ARRAY(SELECT \(table).ctid \(query)))"
  }

  func pendingRecipient(_ user: String, of id: String, at time: String) -> String {
    """
    SELECT false FROM audience_part AS part
    WHERE part.notification = \(id) AND part.push IS NULL AND part.first <= \(user) AND part.last >= \(user)
      AND \(user) = ANY(part.users) AND (part.due IS NULL OR part.due <= \(time))
    """
  }

  var progress: String { "(\(PostgresSchema.progress))" }

  var latestEvent: String { "SELECT event FROM event_counter" }

  var latestPushEvent: String { "SELECT push_event FROM event_counter" }
}

// MARK: - Audiences

extension PostgresQueryable {
  func devices(matching clause: TagClause, withZones: Bool) throws -> AudienceDevices {
    // One query whatever the number of tags: the planner doesn't know how frequent a tag is, so the rarest
    // is found first and named apart.
    let rarest = try clause.with.min { try count(of: $0) < count(of: $1) }
    let others = clause.with.filter { $0 != rarest }
    let start =
      rarest == nil
      ? "FROM registration WHERE $1::text IS NULL AND ended IS NULL"
      : """
      FROM registration_tag AS rarest JOIN registration ON id = rarest.registration
      WHERE rarest.tag = $1 AND ended IS NULL
      """
    var devices = AudienceDevices()
    _ = try all(
      """
      SELECT id, user_id, platform, lane, \(withZones ? "time_zone" : "NULL::text") \(start)
      AND NOT EXISTS (SELECT 1 FROM unnest($2::text[]) AS other WHERE NOT EXISTS (
        SELECT 1 FROM registration_tag WHERE tag = other AND registration = id))
      AND NOT EXISTS (
        SELECT 1 FROM registration_tag WHERE tag = ANY($3) AND registration = id)
      ORDER BY id COLLATE "C"
      """, rarest, others, clause.without
    ) { row in
      devices.append(
        try row.next(), try row.next(), try row.next(), try row.next(), try row.next())
    }
    return devices
  }
}
