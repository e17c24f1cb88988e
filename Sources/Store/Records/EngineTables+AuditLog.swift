import FoundationEssentials

extension EngineTables {
  func auditEntries(
    _ filter: AuditFilter, before number: Int?, limit: Int
  ) async throws -> [AuditEntry] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT id, \(AuditEvent.columns) FROM audit
        WHERE id < $1 AND (CAST($2 AS bigint) IS NULL OR time >= $2)
          AND (CAST($3 AS bigint) IS NULL OR time < $3)
          AND (CAST($4 AS text) IS NULL OR substr(action, 1, length($4)) = $4)
          AND (CAST($5 AS bigint) IS NULL OR owner = $5 OR kind = 'user' AND actor = $5)
        ORDER BY id DESC LIMIT $6
        """, number ?? .max, filter.since, filter.until, filter.action, filter.user, max(0, limit)
      ) { row in AuditEntry(number: try row.next(), event: try AuditEvent(&row)) }
    }
  }

  func addAuditEntries(_ changes: [AuditChange]) async throws {
    let now = now()
    try await database.write { transaction in
      for change in changes {
        try transaction.audit(change.action, change.object, detail: change.detail, at: now)
      }
    }
  }

  func addFailedSignIn(of user: UserID?, from address: String) async throws {
    let now = now()
    let minute = Date(timeIntervalSince1970: (now.timeIntervalSince1970 / 60).rounded(.down) * 60)
    var anybody = AuditActor.anybody.from(.current)
    anybody.address = address
    let actor = anybody
    try await database.write { transaction in
      let known = try transaction.run(
        """
        UPDATE audit SET count = count + 1 WHERE id = (
          SELECT max(id) FROM audit WHERE time >= $1 AND time <= $2 AND action = $3 AND address = $4
            AND object_id IS NOT DISTINCT FROM CAST($5 AS text))
        """, minute, now, AuditAction.signInFailed.rawValue, address,
        user.map { String($0.rawValue) })
      if known > 0 { return }
      try transaction.audit(.signInFailed, user.map(AuditObject.user), by: actor, at: now)
    }
  }
}

extension AuditEvent {
  /// The columns that ``init(_:)`` reads.
  static let columns =
    "time, kind, actor, credential, credential_id, address, request, share, action, object, object_id, "
    + "owner, detail, count"

  fileprivate init(_ row: inout some Row) throws {
    time = try row.next()
    let (kind, number, credential): (String, Int?, String?) = (
      try row.next(), try row.next(), try row.next()
    )
    let (credentialID, address, request): (String?, String?, String?) = (
      try row.next(), try row.next(), try row.next()
    )
    share = AuditShare(rawValue: try row.next()) ?? .administration
    var actor = AuditActor(
      AuditActor.Kind(rawValue: kind) ?? .server, number: number, isPrivileged: share != .others)
    actor.credential = credential.flatMap(AuditActor.Credential.init)
    (actor.credentialID, actor.address, actor.request) = (credentialID, address, request)
    self.actor = actor
    action = try row.next()
    let (object, id, owner): (String?, String?, UserID?) = (
      try row.next(), try row.next(), try row.next()
    )
    self.object = object.map { .stored($0, id ?? "", of: owner) }
    (detail, count) = (try row.next(), try row.next())
  }

  /// What is written to ``columns``.
  var values: [any Column] {
    [
      time, actor.kind.rawValue, actor.number, actor.credential?.rawValue, actor.credentialID,
      actor.address, actor.request, share.rawValue, action, object?.kind, object?.id,
      object?.owner, detail, count,
    ]
  }
}

extension Changing {
  /// Adds an entry to the audit log, which is committed with the change.
  ///
  /// `actor` is who did it, if that is not who the task says; `otherwise` if the task says nobody.
  func audit(
    _ action: AuditAction, _ object: AuditObject? = nil, detail: String? = nil, count: Int = 1,
    by actor: AuditActor? = nil, otherwise: AuditActor = .server, at now: Date
  ) throws {
    let actor = actor ?? .current ?? otherwise
    let event = AuditEvent(
      time: now.stored, actor: actor, action: action.rawValue, object: object, detail: detail,
      share: AuditShare(action, by: actor), count: count)
    try add(event)
    effects.add(.audit(event))
  }
}
