import FoundationEssentials

extension PostgresTables {
  func registration(
    forHandle handle: String, user: UserID, origin: RegistrationOrigin
  ) async throws -> String {
    let newID = String(UInt128.random(in: .min ... .max), radix: 16)
    let now = now()
    return try await database.write { transaction in
      // Again once the user's row is locked: another node may have added it before.
      if try !transaction.isRegistered(handle), try transaction.lockQuota(of: user),
        try !transaction.isRegistered(handle)
      {
        try transaction.requireDeviceQuota(of: user)
      }
      try transaction.run(
        """
        INSERT INTO registration(id, user_id, handle, updated, created, credential, user_agent)
        SELECT $1, id, $2, $4, $4, $5, $6 FROM users WHERE id = $3 ON CONFLICT (md5(handle)) DO NOTHING
        """, newID, handle, user, now, origin.credential, origin.userAgent)
      return try transaction.value(
        """
        SELECT id FROM registration
        WHERE md5(handle) = md5($1) AND handle = $1 AND user_id = $2
        """, handle, user, as: String.self) ?? newID
    }
  }

  func putRegistration(
    _ id: String, user: UserID, _ change: RegistrationChange
  ) async throws -> RegistrationResult {
    let now = now()
    return try await database.write { transaction in
      try transaction.putRegistration(id, user: user, change, at: now)
    }
  }

  func removeRegistration(_ id: String, user: UserID?) async throws -> Bool {
    try await database.write { transaction in
      let owner = try transaction.value(
        """
        DELETE FROM registration WHERE id = $1 AND ($2::bigint IS NULL OR user_id = $2)
        RETURNING user_id
        """, id, user, as: UserID.self)
      if let owner { transaction.effects.add(.credentialsEnded(owner)) }
      return owner != nil
    }
  }

  func registrations(
    ofUser user: UserID, after id: String, limit: Int
  ) async throws -> [DeviceRegistration] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(DeviceRegistration.postgresColumns)
        FROM registration WHERE user_id = $1 AND id > $2 ORDER BY id LIMIT $3
        """, user, id, max(0, limit)
      ) { row in try DeviceRegistration(&row) }
    }
  }

  func silentRegistrations(
    since time: Date, after id: String, limit: Int
  ) async throws -> [(user: String, registration: DeviceRegistration)] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(DeviceRegistration.postgresColumns),
          (SELECT users.name FROM users WHERE users.id = user_id)
        FROM registration WHERE id > $2 AND \(Self.isSilent) ORDER BY id LIMIT $3
        """, time, id, max(0, limit)
      ) { row in
        let registration = try DeviceRegistration(&row)
        return (try row.next(String?.self) ?? "", registration)
      }
    }
  }

  func endSilentRegistrations(since time: Date) async throws -> Int {
    try await database.run(
      "UPDATE registration SET ended = $2, ended_by = $3 WHERE \(Self.isSilent)", time, now(),
      RefusalRule.silence)
  }

  /// Whether the device of a registration has not been heard of since `$1`.
  private static let isSilent = """
    ended IS NULL AND coalesce(contact, updated) < $1 AND id NOT IN (
      SELECT registration FROM device_receipt WHERE fetched >= $1 OR read >= $1)
    """
}

extension DeviceRegistration {
  fileprivate static let postgresColumns = """
    id, user_id, platform, handle, updated, coalesce((
      SELECT json_agg(tag ORDER BY tag) FROM registration_tag WHERE registration = id), '[]'),
    name, created, credential, user_agent, contact, ended
    """

  fileprivate init(_ row: inout PostgresRow) throws {
    try self.init(
      id: row.next(), user: row.next(), platform: row.next(), handle: row.next(),
      updated: row.next(), tags: row.next(StringList.self).items, name: row.next(),
      origin: RegistrationOrigin(
        created: row.next(), credential: row.next(), userAgent: row.next()),
      lastContact: row.next(), ended: row.next())
  }
}

extension PostgresTransaction {
  fileprivate func isRegistered(_ handle: String) throws -> Bool {
    try value(
      "SELECT true FROM registration WHERE md5(handle) = md5($1) AND handle = $1", handle) ?? false
  }

  fileprivate func putRegistration(
    _ id: String, user: UserID, _ change: RegistrationChange, at now: Date
  ) throws -> RegistrationResult {
    let known = try first(
      "SELECT user_id, platform, ended IS NULL FROM registration WHERE id = $1 FOR UPDATE", id
    ) { row in
      (
        owner: try row.next(UserID.self), platform: try row.next(String?.self),
        isCurrent: try row.next(Bool.self)
      )
    }
    // A user who was removed meanwhile must not leave a registration tagged with the name.
    let isUser = try lockQuota(of: user)
    guard known == nil || known?.owner == user, isUser else { return .notOwn }
    if change.isRenewal, known?.platform ?? change.platform != change.platform || known == nil {
      return .notRenewable
    }
    let former = try first(
      """
      SELECT registration.id, users.id, users.name, platform
      FROM registration JOIN users ON users.id = registration.user_id
      WHERE md5(handle) = md5($1) AND handle = $1 AND users.id <> $2 AND ended IS NULL
      FOR UPDATE OF registration
      """, change.handle, user
    ) { row in
      let registration = try row.next(String.self)
      return (
        owner: FormerOwner(
          user: try row.next(), name: try row.next(), registration: registration),
        platform: try row.next(String?.self)
      )
    }
    if let former, former.platform ?? change.platform != change.platform {
      return .handleTaken
    }
    // The other user's devices are told.
    if former != nil { try countOwnNotification(of: user, at: now) }
    let ended: [UserID] = try column(
      """
      DELETE FROM registration WHERE md5(handle) = md5($1) AND handle = $1 AND id <> $2
      RETURNING user_id
      """, change.handle, id)
    effects.add(ended.map(Effect.credentialsEnded))
    if let former {
      collected.events.append(
        CollectedChanges.Event(
          type: "device", publisher: former.owner.user, user: nil, notification: nil,
          data: former.owner.event, time: now))
    }
    if known?.isCurrent != true { try requireDeviceQuota(of: user) }
    if known != nil {
      // A device that registers again is known to its service, whatever was refused before.
      try sendAgain(
        try column(
          """
          SELECT id FROM job WHERE state = 'queued' AND refused IS NOT NULL AND registration = $1
          ORDER BY id FOR UPDATE SKIP LOCKED
          """, id), at: now)
    }
    if let lane = change.lane {
      try requireServiceQuota(of: user, for: lane, of: id)
      try run(
        """
        UPDATE job SET lane = $2
        WHERE lane = (SELECT lane FROM registration WHERE id = $1) AND line = $1
          AND state = 'queued' AND lane <> $2
        """, id, lane)
      effects.add(.jobs(lane: lane))
    }
    try run(
      """
      INSERT INTO registration(id, user_id, platform, handle, updated, keys, lane, name, created,
        credential, user_agent, contact)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $5, $9, $10, $5)
      ON CONFLICT (id) DO UPDATE SET platform = excluded.platform, handle = excluded.handle,
        updated = excluded.updated, keys = excluded.keys, lane = excluded.lane,
        name = coalesce(excluded.name, registration.name), contact = excluded.contact,
        ended = NULL, ended_by = NULL
      """, id, user, change.platform, change.handle, now, change.keys, change.lane, change.name,
      change.origin.credential, change.origin.userAgent)
    try run(
      "DELETE FROM registration_tag WHERE registration = $1 AND tag <> ALL ($2)", id, change.tags)
    try run(
      """
      INSERT INTO registration_tag SELECT tag, $1 FROM unnest($2::text[]) AS tag
      ON CONFLICT DO NOTHING
      """, id, change.tags)
    return .stored(endedOf: former?.owner)
  }
}

// MARK: - Tokens of devices

extension PostgresTables {
  func addToken(_ hash: Digest, to registration: String, user: UserID) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
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
      if removed > 0 { transaction.effects.add(.credentialsEnded(user)) }
      return added == 1
    }
  }

  func device(
    withToken hash: Digest, fetching notification: Int?
  ) async throws -> TokenDevice? {
    let found = try await database.read { connection in
      try connection.first(Self.deviceWithToken, hash, notification) { row in
        let device = try TokenDevice(
          registration: row.next(), user: row.next(), name: row.next(), isFetchRecorded: row.next())
        return (device: device, contact: try row.next(Date?.self))
      }
    }
    guard let found else { return nil }
    recordContact(of: found.device.registration, after: found.contact)
    return found.device
  }

  private func recordContact(of registration: String, after last: Date?) {
    let now = now()
    if let last, now.timeIntervalSince(last) < DeviceRegistration.contactPrecision { return }
    database.writeSoon { transaction in
      try transaction.run(
        "UPDATE registration SET contact = $1 WHERE id = $2", now, registration)
    }
  }

  private static let deviceWithToken = """
    SELECT registration.id, users.id, users.name, (
      \(isFetchRecorded("$2::bigint", user: "registration.user_id", device: "registration.id"))), contact
    FROM device_token JOIN registration ON registration.id = device_token.registration
      JOIN users ON users.id = registration.user_id
    WHERE device_token.hash = $1
    """

  func removeTokens(of registration: String, user: UserID?) async throws -> Bool {
    try await database.write { transaction in
      let owner = try transaction.value(
        "SELECT user_id FROM registration WHERE id = $1 AND ($2::bigint IS NULL OR user_id = $2)",
        registration, user, as: UserID.self)
      guard let owner else { return false }
      try transaction.run("DELETE FROM device_token WHERE registration = $1", registration)
      transaction.effects.add(.credentialsEnded(owner))
      return true
    }
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

  func tag(from first: String, below end: String) async throws -> String? {
    try await database.read { connection in
      try connection.column(
        "SELECT tag FROM registration_tag WHERE tag >= $1 AND tag < $2 ORDER BY tag LIMIT 1", first,
        end, as: String.self
      ).first
    }
  }

  func deviceCounts() async throws -> [String: Int] {
    try await database.read { connection in
      try connection.dictionary(
        """
        SELECT platform, count(*) FROM registration
        WHERE platform IS NOT NULL AND ended IS NULL GROUP BY platform
        """)
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
      ? "FROM registration WHERE $1::text IS NULL AND ended IS NULL"
      : """
      FROM registration_tag AS rarest JOIN registration ON id = rarest.registration
      WHERE rarest.tag = $1 AND ended IS NULL
      """
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
      "SELECT count(*) FROM (SELECT 1 FROM registration_tag WHERE tag = $1 LIMIT $2) AS few", tag,
      Self.tagCountLimit) ?? 0
  }
}
