import FoundationEssentials

extension EngineTables {
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
      let added = try transaction.run(
        """
        INSERT INTO registration(id, user_id, handle, updated, created, credential, user_agent)
        SELECT $1, id, $2, $4, $4, $5, $6 FROM users WHERE id = $3 ON CONFLICT DO NOTHING
        """, newID, handle, user, now, origin.credential, origin.userAgent)
      if added == 1 {
        try transaction.audit(.deviceAdded, .device(newID, of: user), at: now)
      }
      return try transaction.value(
        """
        SELECT id FROM registration WHERE \(transaction.isHandle("$1")) AND user_id = $2
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

  func changeSettings(
    of id: String, user: UserID, _ change: @escaping @Sendable (inout DeviceSettings) -> Void
  ) async throws -> DeviceRegistration? {
    let now = now()
    return try await database.write { transaction in
      let isTheirs = try transaction.value(
        "SELECT true FROM registration WHERE id = $1 AND user_id = $2 \(transaction.lock("FOR UPDATE"))",
        id, user, as: Bool.self)
      guard isTheirs == true, let known = try transaction.registration(id) else { return nil }
      var settings = DeviceSettings(
        name: known.name, tags: known.tags, language: known.language, timeZone: known.timeZone,
        quietPeriod: known.quietPeriod, hasHandle: known.platform != nil)
      change(&settings)
      if !settings.hasHandle { try transaction.removeHandle(of: id) }
      try transaction.run(
        """
        UPDATE registration SET name = $2, language = $3, time_zone = $4, quiet_hours = $5
        WHERE id = $1
        """, id, settings.name, settings.language, settings.timeZone, settings.quietPeriod)
      try transaction.setTags(settings.tags, of: id)
      try transaction.endWaiting(of: id, at: now)
      return try transaction.registration(id)
    }
  }

  func removeRegistration(_ id: String, user: UserID?) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let owner = try transaction.value(
        """
        DELETE FROM registration WHERE id = $1 AND (CAST($2 AS bigint) IS NULL OR user_id = $2)
        RETURNING user_id
        """, id, user, as: UserID.self)
      guard let owner else { return false }
      transaction.effects.add(.credentialsEnded(owner))
      try transaction.audit(.deviceRemoved, .device(id, of: owner), at: now)
      return true
    }
  }

  func registrations(
    ofUser user: UserID, after id: String, limit: Int
  ) async throws -> [DeviceRegistration] {
    try await database.read { connection in
      try connection.registrations(
        "WHERE user_id = $1 AND id > $2 ORDER BY id LIMIT $3", user, id, max(0, limit)
      ).map(\.registration)
    }
  }

  func silentRegistrations(
    since time: Date, after id: String, limit: Int
  ) async throws -> [(user: String, registration: DeviceRegistration)] {
    try await database.read { connection in
      try connection.registrations(
        "WHERE id IN (\(Self.silent(after: "$2", limit: "$3"))) ORDER BY id", time, id,
        max(0, limit))
    }
  }

  func endSilentRegistrations(since time: Date) async throws -> Int {
    let now = now()
    var total = 0
    while true {
      let count = try await database.write { transaction in
        let ids = try transaction.column(
          Self.silent(after: "$2", limit: "$3"), time, "", Self.endedAtOnce, as: String.self)
        if ids.isEmpty { return 0 }
        let count = try transaction.run(
          """
          UPDATE registration SET ended = $2, ended_by = $3
          WHERE \(Self.isUnheard) AND id \(transaction.isIn("$4"))
          """, time, now, RefusalRule.silence, ids)
        if count > 0 {
          try transaction.audit(
            .deviceRemoved, detail: RefusalRule.silence, count: count, at: now)
        }
        return count
      }
      if count == 0 { return total }
      total += count
    }
  }

  /// As many registrations as end in one commit, so that others do not wait long for a statement.
  private static var endedAtOnce: Int { 2000 }

  /// Whether the device of a registration has not renewed it since `$1`.
  private static var isUnheard: String { "ended IS NULL AND coalesce(contact, updated) < $1" }

  /// The query for the registrations after an ID whose devices have not been heard of since `$1`, so many of them.
  private static func silent(after id: String, limit: String) -> String {
    // EXCEPT: both databases read all receipts once. For NOT IN, PostgreSQL does so for each registration if they are
    // many, and SQLite for NOT EXISTS.
    """
    SELECT id FROM registration WHERE id > \(id) AND \(isUnheard)
    EXCEPT SELECT registration FROM device_receipt WHERE fetched >= $1 OR read >= $1
    ORDER BY id LIMIT \(limit)
    """
  }
}

extension Queryable {
  /// The registrations that a query selects with ``DeviceRegistration/columns``, each with the name of its user.
  fileprivate func registrations(
    _ rest: String, _ values: any Parameter...
  ) throws -> [(user: String, registration: DeviceRegistration)] {
    let rows = try rows(
      """
      SELECT id, user_id, platform, handle, updated, name, language, time_zone, quiet_hours,
        created, credential, user_agent, contact, ended,
        (SELECT users.name FROM users WHERE users.id = user_id)
      FROM registration \(rest)
      """, values: values, limit: .max
    ) { row in
      let registration = try DeviceRegistration(
        id: row.next(), user: row.next(), platform: row.next(), handle: row.next(),
        updated: row.next(), tags: [], name: row.next(), language: row.next(),
        timeZone: row.next(), quietPeriod: row.next(),
        origin: RegistrationOrigin(
          created: row.next(), credential: row.next(), userAgent: row.next()),
        lastContact: row.next(), ended: row.next())
      return (user: try row.next(String?.self) ?? "", registration: registration)
    }
    let tags = try all(
      "SELECT registration, tag FROM registration_tag WHERE registration \(isIn("$1")) ORDER BY tag",
      rows.map(\.registration.id)
    ) { (id: $0 as String, tag: $1 as String) }
    let byID = Dictionary(grouping: tags, by: \.id)
    return rows.map { user, registration in
      var registration = registration
      registration.tags = byID[registration.id, default: []].map(\.tag)
      return (user, registration)
    }
  }

  fileprivate func registration(_ id: String) throws -> DeviceRegistration? {
    try registrations("WHERE id = $1", id).first?.registration
  }

  fileprivate func isRegistered(_ handle: String) throws -> Bool {
    try value("SELECT true FROM registration WHERE \(isHandle("$1"))", handle) ?? false
  }
}

extension Changing {
  /// Inserts or replaces a registration (``Accounts/putRegistration(_:user:_:)``).
  func putRegistration(
    _ id: String, user: UserID, _ change: RegistrationChange, at now: Date
  ) throws -> RegistrationResult {
    let known = try first(
      """
      SELECT user_id, platform, ended IS NULL FROM registration WHERE id = $1 \(lock("FOR UPDATE"))
      """, id
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
      WHERE \(isHandle("$1")) AND users.id <> $2 AND ended IS NULL
      \(lock("FOR UPDATE OF registration"))
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
      DELETE FROM registration WHERE \(isHandle("$1")) AND id <> $2 RETURNING user_id
      """, change.handle, id)
    effects.add(ended.map(Effect.credentialsEnded))
    if let former {
      let device = AuditObject.device(former.owner.registration, of: former.owner.user)
      try audit(.deviceRemoved, device, detail: "moved", at: now)
      try add(
        NewEvent(
          type: "device", publisher: former.owner.user, data: former.owner.event, time: now))
    }
    if known?.isCurrent != true { try requireDeviceQuota(of: user) }
    if known != nil {
      // A device that registers again is known to its service, whatever was refused before.
      try sendAgain(
        try column(
          """
          SELECT id FROM job WHERE state = 'queued' AND refused IS NOT NULL AND registration = $1
          ORDER BY id \(lock("FOR UPDATE SKIP LOCKED"))
          """, id), at: now)
    }
    if let lane = change.lane {
      try requireServiceQuota(of: user, for: lane, of: id)
      try moveJobs(of: id, to: lane)
      effects.add(.jobs(lane: lane))
    }
    try run(
      """
      INSERT INTO registration(id, user_id, platform, handle, updated, keys, lane, name, created,
        credential, user_agent, contact, language, time_zone, quiet_hours)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $5, $9, $10, $5, $11, $12, $13)
      ON CONFLICT (id) DO UPDATE SET platform = excluded.platform, handle = excluded.handle,
        updated = excluded.updated, keys = excluded.keys, lane = excluded.lane,
        name = coalesce(excluded.name, registration.name), contact = excluded.contact,
        language = coalesce(excluded.language, registration.language),
        time_zone = coalesce(excluded.time_zone, registration.time_zone),
        quiet_hours = coalesce(excluded.quiet_hours, registration.quiet_hours),
        ended = NULL, ended_by = NULL
      """, id, user, change.platform, change.handle, now, change.keys, change.lane, change.name,
      change.origin.credential, change.origin.userAgent, change.language, change.timeZone,
      change.quietPeriod)
    try change.keepsTags ? add(change.tags, to: id) : setTags(change.tags, of: id)
    if known == nil {
      try audit(.deviceAdded, .device(id, of: user), at: now)
    } else {
      try endWaiting(of: id, at: now)
    }
    return .stored(endedOf: former?.owner)
  }

  fileprivate func setTags(_ tags: [String], of id: String) throws {
    try run(
      "DELETE FROM registration_tag WHERE registration = $1 AND NOT (tag \(isIn("$2")))", id, tags)
    try add(tags, to: id)
  }

  private func add(_ tags: [String], to id: String) throws {
    for tag in tags {
      try send("INSERT INTO registration_tag VALUES ($1, $2) ON CONFLICT DO NOTHING", tag, id)
    }
  }
}

// MARK: - Tokens of devices

extension EngineTables {
  func addToken(_ hash: Digest, to registration: String, user: UserID) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      // Its time is later than that of every other, also of one from the same millisecond.
      let added = try transaction.run(
        """
        INSERT INTO device_token(hash, registration, created)
        SELECT $1, id, coalesce((
          SELECT max(created) + 1 FROM device_token WHERE registration = $3 AND created >= $2), $2)
        FROM registration WHERE id = $3 AND user_id = $4
        """, hash, now, registration, user)
      let removed = try transaction.run(
        """
        DELETE FROM device_token WHERE registration = $1 AND hash NOT IN (
          SELECT hash FROM device_token WHERE registration = $1 ORDER BY created DESC LIMIT 2)
        """, registration)
      if removed > 0 { transaction.effects.add(.credentialsEnded(user)) }
      if added == 1 {
        try transaction.audit(.deviceTokenAdded, .device(registration, of: user), at: now)
      }
      return added == 1
    }
  }

  func device(
    withToken hash: Digest, fetching notification: Int?
  ) async throws -> TokenDevice? {
    let now = now()
    let found = try await database.read { connection in
      try connection.first(connection.deviceWithToken, hash, notification, now) { row in
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

  func removeTokens(of registration: String, user: UserID?) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let owner = try transaction.value(
        "SELECT user_id FROM registration WHERE id = $1 AND (CAST($2 AS bigint) IS NULL OR user_id = $2)",
        registration, user, as: UserID.self)
      guard let owner else { return false }
      try transaction.run("DELETE FROM device_token WHERE registration = $1", registration)
      transaction.effects.add(.credentialsEnded(owner))
      try transaction.audit(.deviceTokensRemoved, .device(registration, of: owner), at: now)
      return true
    }
  }
}

extension Queryable {
  fileprivate var deviceWithToken: String {
    """
    SELECT registration.id, users.id, users.name, (
      \(isFetchRecorded("CAST($2 AS bigint)", user: "registration.user_id", device: "registration.id", at: "$3"))), contact
    FROM device_token JOIN registration ON registration.id = device_token.registration
      JOIN users ON users.id = registration.user_id
    WHERE device_token.hash = $1
    """
  }
}

// MARK: - Audiences

extension EngineTables {
  func devices(matching clauses: [TagClause]) async throws -> AudienceDevices {
    try await database.read { try $0.devices(matching: clauses, withZones: false) }
  }

  func audience(
    named names: Set<String>, allowingPasswordless: Bool, matching clauses: [TagClause],
    withZones: Bool
  ) async throws -> (users: [String: UserID], devices: AudienceDevices) {
    try await database.read { connection in
      let users =
        names.isEmpty
        ? [:]
        : try connection.users(named: Array(names), allowingPasswordless: allowingPasswordless)
      return (users, try connection.devices(matching: clauses, withZones: withZones))
    }
  }

  func tag(from first: String, below end: String) async throws -> String? {
    try await database.read { connection in
      try connection.value(
        "SELECT tag FROM registration_tag WHERE tag >= $1 AND tag < $2 ORDER BY tag LIMIT 1", first,
        end)
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

extension Queryable {
  fileprivate func devices(
    matching clauses: [TagClause], withZones: Bool
  ) throws -> AudienceDevices {
    let devices = try clauses.reduce(into: AudienceDevices()) { devices, clause in
      devices = devices.union(try self.devices(matching: clause, withZones: withZones))
    }
    // Who waits for approval belongs to no audience, not even to that of everybody.
    let waiting = Set(try column("SELECT user_id FROM sign_up WHERE waiting = 1", as: UserID.self))
    return waiting.isEmpty ? devices : devices.ofUsers { !waiting.contains($0) }
  }

  /// The number of devices with a tag, up to as many as tell which tag is rare.
  func count(of tag: String) throws -> Int {
    try value(
      "SELECT count(*) FROM (SELECT 1 FROM registration_tag WHERE tag = $1 LIMIT 1000) AS few", tag)
      ?? 0
  }
}
