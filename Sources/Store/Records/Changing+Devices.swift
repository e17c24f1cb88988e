import FoundationEssentials

// Called with the user's row locked.
extension Changing {
  /// Inserts a registration without a platform and with a token, or makes one of the user's such; false if the id is
  /// another user's.
  ///
  /// Tags of an earlier one stay, its tokens end. Throws `conflict` if the user can't have one more device.
  func putDevice(
    _ device: NewDevice, of user: UserID, named name: String, tags: [String] = [], at now: Date
  ) throws -> Bool {
    let id = device.registration
    let known = try first(
      "SELECT user_id, ended IS NULL FROM registration WHERE id = $1 \(lock("FOR UPDATE"))", id
    ) { row in (owner: try row.next(UserID.self), isCurrent: try row.next(Bool.self)) }
    guard known == nil || known?.owner == user else { return false }
    if known?.isCurrent != true { try requireDeviceQuota(of: user) }
    try run(
      """
      INSERT INTO registration(id, user_id, handle, updated, name, created, credential, user_agent,
        contact, language, time_zone)
      VALUES ($1, $2, $3, $4, $5, $4, $6, $7, $4, $8, $9)
      ON CONFLICT (id) DO UPDATE SET platform = NULL, handle = excluded.handle,
        updated = excluded.updated, keys = NULL, lane = NULL,
        name = coalesce(excluded.name, registration.name), contact = excluded.contact,
        language = coalesce(excluded.language, registration.language),
        time_zone = coalesce(excluded.time_zone, registration.time_zone),
        ended = NULL, ended_by = NULL
      """, id, user, Self.newHandle, now, device.name, device.origin.credential,
      device.origin.userAgent, device.language, device.timeZone)
    for tag in ["username:" + name] + tags {
      try send("INSERT INTO registration_tag VALUES ($1, $2) ON CONFLICT DO NOTHING", tag, id)
    }
    try setToken(device.token, of: id, user: user, at: now)
    return true
  }

  /// Takes the push token of a registration away; what is queued for it fails.
  func removeHandle(of registration: String) throws {
    try run(
      """
      UPDATE registration SET platform = NULL, handle = $2, keys = NULL, lane = NULL, ended = NULL,
        ended_by = NULL
      WHERE id = $1 AND platform IS NOT NULL
      """, registration, Self.newHandle)
  }

  /// What a registration without a push token has as its handle: nobody can register it, since nobody learns it.
  private static var newHandle: String { "none:" + LinkKey.newSecret() }

  /// Makes this the only token of a registration of the user.
  func setToken(_ hash: Digest, of registration: String, user: UserID, at now: Date) throws {
    if try run("DELETE FROM device_token WHERE registration = $1", registration) > 0 {
      effects.add(.credentialsEnded(user))
    }
    try run(
      "INSERT INTO device_token(hash, registration, created) VALUES ($1, $2, $3)", hash,
      registration, now)
  }
}
