import FoundationEssentials

extension PostgresTables {
  func registration(forHandle handle: String, user: UserID) async throws -> String {
    let newID = String(UInt128.random(in: .min ... .max), radix: 16)
    let now = now()
    let (id, former) = try await database.write { transaction in
      let former = try transaction.removeRegistrations(withHandle: handle, exceptOf: user)
      try transaction.run(
        """
        INSERT INTO registration(id, user_id, handle, updated) SELECT $1, id, $2, $3 FROM users
        WHERE id = $4 ON CONFLICT (md5(handle)) DO NOTHING
        """, newID, handle, now, user)
      let id = try transaction.value(
        "SELECT id FROM registration WHERE md5(handle) = md5($1) AND handle = $1", handle,
        as: String.self)
      return (id ?? newID, former)
    }
    for user in former { observers.onCredentialsEnded(user) }
    return id
  }

  func putRegistration(
    _ id: String, user: UserID, platform: String, handle: String, tags: [String],
    keys: String?, lane: String?
  ) async throws -> Bool {
    let now = now()
    let former = try await database.write { transaction -> [UserID]? in
      let owner = try transaction.value(
        "SELECT user_id FROM registration WHERE id = $1 FOR UPDATE", id, as: UserID.self)
      // A user who was removed meanwhile must not leave a registration tagged with the name.
      let isUser = try transaction.value(
        "SELECT true FROM users WHERE id = $1 FOR KEY SHARE", user, as: Bool.self)
      guard owner == nil || owner == user, isUser == true else { return nil }
      let former = try transaction.removeRegistrations(withHandle: handle, except: id)
      if let lane {
        try transaction.run(
          """
          UPDATE job SET lane = $2
          WHERE lane = (SELECT lane FROM registration WHERE id = $1) AND line = $1
            AND state = 'queued' AND lane <> $2
          """, id, lane)
        transaction.collected.messages.append(.jobs(lane: lane))
      }
      try transaction.run(
        """
        INSERT INTO registration(id, user_id, platform, handle, updated, keys, lane)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (id) DO UPDATE SET platform = excluded.platform, handle = excluded.handle,
          updated = excluded.updated, keys = excluded.keys, lane = excluded.lane
        """, id, user, platform, handle, now, keys, lane)
      try transaction.run(
        "DELETE FROM registration_tag WHERE registration = $1 AND tag <> ALL ($2)", id, tags)
      try transaction.run(
        """
        INSERT INTO registration_tag SELECT tag, $1 FROM unnest($2::text[]) AS tag
        ON CONFLICT DO NOTHING
        """, id, tags)
      return former
    }
    for user in former ?? [] { observers.onCredentialsEnded(user) }
    if former != nil, let lane { observers.onJobs([lane]) }
    return former != nil
  }

  func removeRegistration(_ id: String, user: UserID) async throws -> Bool {
    let isRemoved = try await database.write { transaction in
      guard
        try transaction.run(
          "DELETE FROM registration WHERE id = $1 AND user_id = $2", id, user) == 1
      else { return false }
      transaction.collected.messages.append(.credentialsEnded(user))
      return true
    }
    if isRemoved { observers.onCredentialsEnded(user) }
    return isRemoved
  }

  func registrations(ofUser user: UserID) async throws -> [DeviceRegistration] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT id, user_id, platform, handle, updated, coalesce((
          SELECT json_agg(tag ORDER BY tag) FROM registration_tag WHERE registration = id), '[]')
        FROM registration WHERE user_id = $1 ORDER BY updated DESC, id
        """, user
      ) { row in
        try DeviceRegistration(
          id: row.next(), user: row.next(), platform: row.next(), handle: row.next(),
          updated: row.next(), tags: row.next(StringList.self).items)
      }
    }
  }
}

extension PostgresTransaction {
  /// Removes the registrations with a handle, except those of a user or with an id; returns their users.
  fileprivate func removeRegistrations(
    withHandle handle: String, exceptOf user: UserID? = nil, except id: String? = nil
  ) throws -> [UserID] {
    let former = try column(
      """
      DELETE FROM registration WHERE md5(handle) = md5($1) AND handle = $1
        AND user_id IS DISTINCT FROM $2 AND id IS DISTINCT FROM $3 RETURNING user_id
      """, handle, user, id, as: UserID.self)
    collected.messages += former.map(NodeMessage.credentialsEnded)
    return former
  }
}

// MARK: - Tokens of devices

extension PostgresTables {
  func addToken(_ hash: Digest, to registration: String, user: UserID) async throws -> Bool {
    let now = now()
    let (isAdded, hasReplaced) = try await database.write { transaction in
      // Its time is later than that of every other, also of one from the same millisecond.
      let added = try transaction.run(
        """
        INSERT INTO device_token(hash, registration, created)
        SELECT $1, id, greatest($2::bigint, (
          SELECT max(created) + 1 FROM device_token WHERE registration = $3))
        FROM registration WHERE id = $3 AND user_id = $4
        """, hash, now, registration, user)
      let removed = try transaction.run(
        """
        DELETE FROM device_token WHERE registration = $1 AND hash NOT IN (
          SELECT hash FROM device_token WHERE registration = $1 ORDER BY created DESC LIMIT 2)
        """, registration)
      if removed > 0 { transaction.collected.messages.append(.credentialsEnded(user)) }
      return (added == 1, removed > 0)
    }
    if hasReplaced { observers.onCredentialsEnded(user) }
    return isAdded
  }

  func device(
    withToken hash: Digest, fetching notification: Int?
  ) async throws -> TokenDevice? {
    try await database.read { connection in
      try connection.all(Self.deviceWithToken, hash, notification, as: TokenDevice.init).first
    }
  }

  private static let deviceWithToken = """
    SELECT registration.id, users.id, users.name, (
      \(isFetchRecorded("$2::bigint", user: "registration.user_id", device: "registration.id")))
    FROM device_token JOIN registration ON registration.id = device_token.registration
      JOIN users ON users.id = registration.user_id
    WHERE device_token.hash = $1
    """

  func removeTokens(of registration: String, user: UserID?) async throws -> Bool {
    let owner = try await database.write { transaction -> UserID? in
      let owner = try transaction.value(
        "SELECT user_id FROM registration WHERE id = $1 AND ($2::bigint IS NULL OR user_id = $2)",
        registration, user, as: UserID.self)
      guard let owner else { return nil }
      try transaction.run("DELETE FROM device_token WHERE registration = $1", registration)
      transaction.collected.messages.append(.credentialsEnded(owner))
      return owner
    }
    if let owner { observers.onCredentialsEnded(owner) }
    return owner != nil
  }
}

// MARK: - Audiences

extension PostgresTables {
  func devices(matching clauses: [TagClause]) async throws -> AudienceDevices {
    try await database.read { try $0.devices(matching: clauses) }
  }

  func audience(
    named names: Set<String>, allowingPasswordless: Bool, matching clauses: [TagClause]
  ) async throws -> (users: [String: UserID], devices: AudienceDevices) {
    try await database.read { connection in
      var users: [String: UserID] = [:]
      if !names.isEmpty {
        try connection.send(Self.usersByName, [Array(names), allowingPasswordless]) { result in
          let found = try result.map { row in (try row.next(String.self), try row.next(UserID.self))
          }
          users = Dictionary(uniqueKeysWithValues: found)
        }
      }
      let devices = try connection.devices(matching: clauses)
      try connection.synchronize()
      return (users, devices)
    }
  }

  func deviceCounts() async throws -> [String: Int] {
    try await database.read { connection in
      try connection.dictionary(
        "SELECT platform, count(*) FROM registration WHERE platform IS NOT NULL GROUP BY platform")
    }
  }
}

extension PostgresConnection {
  /// Enough to tell which tag is rare.
  private static var tagCountLimit: Int { 1000 }

  fileprivate func devices(matching clauses: [TagClause]) throws -> AudienceDevices {
    try clauses.reduce(into: AudienceDevices()) { devices, clause in
      devices = devices.union(try self.devices(matching: clause))
    }
  }

  private func devices(matching clause: TagClause) throws -> AudienceDevices {
    // One query whatever the number of tags: the planner doesn't know how frequent a tag is, so the rarest
    // is found first and named apart.
    let rarest = try clause.with.min { try count(of: $0) < count(of: $1) }
    let others = clause.with.filter { $0 != rarest }
    let start =
      rarest == nil
      ? "FROM registration WHERE $1::text IS NULL"
      : "FROM registration_tag AS rarest JOIN registration ON id = rarest.registration WHERE rarest.tag = $1"
    var devices = AudienceDevices()
    _ = try all(
      """
      SELECT id, user_id, platform, lane \(start)
      AND NOT EXISTS (SELECT 1 FROM unnest($2::text[]) AS other WHERE NOT EXISTS (
        SELECT 1 FROM registration_tag WHERE tag = other AND registration = id))
      AND NOT EXISTS (
        SELECT 1 FROM registration_tag WHERE tag = ANY($3) AND registration = id)
      ORDER BY id COLLATE "C"
      """, rarest, others, clause.without
    ) { row in devices.append(try row.next(), try row.next(), try row.next(), try row.next()) }
    return devices
  }

  /// The number of devices with a tag, up to ``tagCountLimit``.
  private func count(of tag: String) throws -> Int {
    try value(
      "SELECT count(*) FROM (SELECT 1 FROM registration_tag WHERE tag = $1 LIMIT $2) AS some", tag,
      Self.tagCountLimit) ?? 0
  }
}
