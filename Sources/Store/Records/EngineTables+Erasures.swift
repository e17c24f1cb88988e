import FoundationEssentials
import Primitives

extension EngineTables {
  func erasureExtent(of user: UserID) async throws -> ErasureExtent {
    try await database.read { connection in
      func count(_ rows: String) throws -> Int {
        try connection.value("SELECT count(*) FROM \(rows)", user) ?? 0
      }
      let all = try count("recipient WHERE user_id = $1")
      let own = try count(
        """
        recipient AS own WHERE user_id = $1 AND NOT EXISTS (
          SELECT 1 FROM recipient AS other
          WHERE other.notification = own.notification AND other.user_id <> own.user_id)
        """)
      return ErasureExtent(
        devices: try count("registration WHERE user_id = $1"), ownNotifications: own,
        sharedNotifications: all - own, sent: try count("notification WHERE sender = $1"))
    }
  }

  func beginErasure(of user: UserID, keepingAdmin: Bool) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      if keepingAdmin { try transaction.checkAdmins(without: user) }
      let name = try transaction.value(
        "SELECT name FROM users WHERE id = $1 \(transaction.lock("FOR UPDATE"))", user,
        as: String.self)
      // A number that nobody has had yet will be another's.
      guard try name != nil || transaction.hasRecords(of: user) else { return false }
      try transaction.run(
        "DELETE FROM draft WHERE author = $1 AND editor = $1 AND template = 0", user)
      try transaction.remove(user, at: now)
      if name != nil { try transaction.audit(.userRemoved, .user(user), detail: "erased", at: now) }
      try transaction.run(
        "INSERT INTO erasure(user_id, name, begun) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        user, name, now)
      return true
    }
  }

  func erasures() async throws -> [Erasure] {
    try await database.read { connection in
      try connection.all(
        "SELECT user_id, name, begun FROM erasure ORDER BY user_id", as: Erasure.init)
    }
  }

  func endErasure(of user: UserID) async throws {
    try await database.run("DELETE FROM erasure WHERE user_id = $1", user)
  }

  func erasedContent(after time: Date) async throws -> [Digest: Date] {
    try await database.read { connection in
      try connection.dictionary("SELECT source, erased FROM erased_content WHERE erased > $1", time)
    }
  }

  func removeErasedContent(before time: Date) async throws {
    try await database.run(
      """
      DELETE FROM erased_content WHERE erased < $1 AND NOT EXISTS (
        SELECT 1 FROM erased_object WHERE erased_object.source = erased_content.source)
      """, time)
  }

  func isErased(_ source: Digest, unless notification: Int?) async throws -> Bool {
    try await database.read { connection in
      try connection.value(
        """
        SELECT EXISTS (SELECT 1 FROM erased_content WHERE source = $1)
          AND NOT EXISTS (SELECT 1 FROM notification WHERE id = CAST($2 AS bigint))
        """, source, notification) ?? false
    }
  }
}

// MARK: - The object store

extension EngineTables {
  func erasedObjects(limit: Int) async throws -> [ErasedObject] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT source, blob, erased FROM erased_object JOIN erased_content USING (source)
        ORDER BY source LIMIT $1
        """, limit, as: ErasedObject.init)
    }
  }

  func endErasedObjects(_ objects: [ErasedObject]) async throws {
    if objects.isEmpty { return }
    let now = now()
    try await database.write { transaction in
      for object in objects {
        // A later time: each node has to forget once more what it knows of it.
        let count = try transaction.run(
          "UPDATE erased_content SET erased = $1 WHERE source = $2 AND erased = $3", now,
          object.source, object.erased)
        if count == 0 { continue }
        try transaction.run("DELETE FROM erased_object WHERE source = $1", object.source)
      }
    }
  }

  func addErasedObjects(_ blobs: [Digest]) async throws {
    if blobs.isEmpty { return }
    try await database.write { transaction in
      for blob in blobs { try transaction.addErasedObject(Rendition.source(of: blob), blob: blob) }
    }
  }
}

// MARK: - The records

/// Rows that one query looks at, or that one commit removes.
private let erasedAtOnce = (read: 10_000, removed: 100)

extension EngineTables {
  func eraseRecords(of erasure: Erasure) async throws {
    // Those of its recipients who are still to be written have what is known of the user, too.
    while try await writeNextParts(within: .zero) {}
    let now = now()
    try await database.write { transaction in
      try transaction.addErasedContent(Rendition.source(ofUser: erasure.user), at: now)
    }
    try await eraseReceived(by: erasure.user)
    try await eraseRows(of: erasure.user)
    guard let name = erasure.name else { return }
    let tag = ErasedTag(of: name, user: erasure.user)
    try await eraseNotifications(to: tag, before: erasure.begun)
    for (table, column, changed) in [
      ("draft", "content", "updated"), ("access_token", "audience", "created"),
    ] {
      try await erase(tag, table, "id", column, as: Int.self, "\(changed) <= $2", erasure.begun)
    }
    try await erase(
      tag, "segment", "name", "content", as: String.self, "updated <= $2", erasure.begun)
    try await erase(
      tag, "webhook", "token", "template", as: Int.self,
      "token IN (SELECT id FROM access_token WHERE created <= $2)", erasure.begun)
    try await database.run("UPDATE erasure SET name = NULL WHERE user_id = $1", erasure.user)
  }

  /// Removes the user from the recipients of notifications, and notifications that have no other recipient.
  private func eraseReceived(by user: UserID) async throws {
    while true {
      let now = now()
      let count = try await database.write { [blobs] transaction in
        let ids = try transaction.column(
          """
          SELECT notification FROM recipient WHERE user_id = $1
          ORDER BY notification LIMIT \(erasedAtOnce.removed)
          """, user, as: Int.self)
        let others = Set(
          try transaction.column(
            """
            SELECT id FROM notification WHERE id \(transaction.isIn("$1")) AND (
              EXISTS (SELECT 1 FROM recipient
                WHERE recipient.notification = notification.id AND recipient.user_id <> $2)
              OR EXISTS (SELECT 1 FROM audience_part
                WHERE audience_part.notification = notification.id)
              OR EXISTS (SELECT 1 FROM due_audience
                WHERE due_audience.notification = notification.id))
            """, ids, user, as: Int.self))
        for table in ["recipient", "recipient_values", "device_receipt"] {
          try transaction.run(
            "DELETE FROM \(table) WHERE user_id = $1 AND notification \(transaction.isIn("$2"))",
            user, ids)
        }
        try transaction.erase(ids.filter { !others.contains($0) }, from: blobs, at: now)
        return ids.count
      }
      if count == 0 { return }
    }
  }

  /// Removes the user's rows of tables that have no index of users.
  private func eraseRows(of user: UserID) async throws {
    for (table, key) in [
      ("job", "id"), ("event", "sequence"), ("recipient_values", "notification"),
    ] {
      try await eachRange(of: table, key) { [database] first, next in
        // Most ranges have none.
        // A notification may have values of a million users: hers are looked up.
        let condition =
          table == "recipient_values"
          ? "notification IN (SELECT id FROM notification WHERE id >= $1 AND id < $2) AND user_id = $3"
          : "\(key) >= $1 AND \(key) < $2 AND user_id = $3"
        let isAmong = try await database.read { connection in
          try connection.value(
            "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(condition))", first, next, user,
            as: Bool.self)
        }
        guard isAmong == true else { return }
        try await database.write { transaction in
          guard table == "job" else {
            try transaction.run("DELETE FROM \(table) WHERE \(condition)", first, next, user)
            return
          }
          let pushes = try transaction.column(
            "DELETE FROM job WHERE \(condition) RETURNING push", first, next, user, as: Int.self)
          // What a push says that belongs to no notification.
          try transaction.run(
            """
            DELETE FROM push WHERE id \(transaction.isIn("$1")) AND notification IS NULL
              AND NOT EXISTS (SELECT 1 FROM job WHERE job.push = push.id)
            """, Array(Set(pushes)))
        }
      }
    }
  }

  /// Removes notifications that went to the user alone and have no recipients any more, and the user's name from the
  /// audiences of the others, also in their history.
  private func eraseNotifications(to tag: ErasedTag, before begun: Date) async throws {
    try await eachRange(of: "notification", "id") { [self] first, next in
      let found = try await database.read { connection in
        try connection.all(
          """
          SELECT id, audience, EXISTS (
            SELECT 1 FROM recipient WHERE recipient.notification = notification.id)
          FROM notification
          WHERE id >= $1 AND id < $2 AND audience LIKE $3 AND created <= $4
          """, first, next, tag.pattern, begun
        ) { row in
          (
            id: try row.next(Int.self), audience: try row.next(StringList.self),
            hasRecipients: try row.next(Bool.self)
          )
        }
      }
      // An earlier user, who was only removed, may have had the name.
      let own = found.filter { $0.audience.items == [tag.name] && !$0.hasRecipients }.map(\.id)
      let others = found.filter { $0.audience.items != [tag.name] || $0.hasRecipients }
        .map { ($0.id, tag.replaced(in: $0.audience.rawValue), $0.audience.rawValue) }
        .filter { $0.1 != $0.2 }
      for start in stride(from: 0, to: own.count, by: erasedAtOnce.removed) {
        let some = Array(own[start..<Swift.min(own.count, start + erasedAtOnce.removed)])
        let (now, blobs) = (now(), blobs)
        try await database.write { try $0.erase(some, from: blobs, at: now) }
      }
      if others.isEmpty { return }
      try await database.write { transaction in
        for (id, audience, earlier) in others {
          try transaction.run(
            "UPDATE notification SET audience = $1 WHERE id = $2 AND audience = $3", audience, id,
            earlier)
          transaction.effects.add(.change(id))
        }
      }
    }
    try await eachRange(of: "amendment", "id") { [self] first, next in
      try await erase(
        tag, "amendment", "id", "earlier", as: Int.self,
        "id >= \(first) AND id < \(next) AND created <= $2", begun)
    }
  }

  /// Replaces the user's tag in a column of the rows that meet a condition, in which `$2` is a time.
  private func erase<Key: Column & Sendable>(
    _ tag: ErasedTag, _ table: String, _ key: String, _ column: String, as type: Key.Type,
    _ condition: String, _ time: Date
  ) async throws {
    let found = try await database.read { connection in
      try connection.all(
        "SELECT \(key), \(column) FROM \(table) WHERE \(column) LIKE $1 AND \(condition)",
        tag.pattern, time
      ) { row in (key: try row.next(Key.self), text: try row.next(String.self)) }
    }
    let changed = found.map { ($0.key, tag.replaced(in: $0.text), $0.text) }.filter { $0.1 != $0.2 }
    if changed.isEmpty { return }
    try await database.write { transaction in
      for (value, text, earlier) in changed {
        try transaction.run(
          "UPDATE \(table) SET \(column) = $1 WHERE \(key) = $2 AND \(column) = $3", text, value,
          earlier)
      }
    }
  }

  /// Calls a function with ranges of a table's numbers, in which there are not too many rows to look at once.
  private func eachRange(
    of table: String, _ key: String, _ body: (_ first: Int, _ next: Int) async throws -> Void
  ) async throws {
    let ends = try await database.read { connection in
      try connection.first("SELECT min(\(key)), max(\(key)) FROM \(table)") { row in
        (try row.next(Int?.self), try row.next(Int?.self))
      }
    }
    guard case (let first?, let last?)? = ends else { return }
    for start in stride(from: first, through: last, by: erasedAtOnce.read) {
      try await body(start, start + erasedAtOnce.read)
    }
  }
}

extension Queryable {
  /// Whether there is a row of a user who may have been removed.
  fileprivate func hasRecords(of user: UserID) throws -> Bool {
    try value(
      """
      SELECT EXISTS (SELECT 1 FROM recipient WHERE user_id = $1)
        OR EXISTS (SELECT 1 FROM notification WHERE sender = $1)
        OR EXISTS (SELECT 1 FROM erasure WHERE user_id = $1)
        OR EXISTS (SELECT 1 FROM audit WHERE owner = $1)
      """, user) ?? false
  }
}

extension Changing {
  /// Removes notifications with everything that belongs to them, and notes their content if nothing else has it.
  fileprivate func erase(_ notifications: [Int], from blobs: Blobs, at now: Date) throws {
    if notifications.isEmpty { return }
    for table in ["event", "published_file"] {
      try run("DELETE FROM \(table) WHERE notification \(isIn("$1"))", notifications)
    }
    let removed = try all(
      """
      DELETE FROM notification WHERE id \(isIn("$1"))
      RETURNING id, rich_type, payload, message, blob
      """, notifications
    ) { row in
      (
        id: try row.next(Int.self), richType: try row.next(String.self),
        payload: try row.next(String.self), message: try row.next(String.self),
        blob: try row.next(Digest?.self)
      )
    }
    for row in removed {
      effects.add(.change(row.id))
      if row.richType.isEmpty { continue }
      let isElsewhere =
        try row.blob.map { try isReferenced($0) }
        ?? value(
          """
          SELECT EXISTS (
            SELECT 1 FROM notification
            WHERE rich_type = $1 AND payload = $2 AND message = $3 AND blob IS NULL)
          """, row.richType, row.payload, row.message)
      if isElsewhere == true { continue }
      let source = Rendition.source(of: row.blob, payload: row.payload, message: row.message)
      try addErasedContent(source, at: now)
      if blobs.objects != nil { try addErasedObject(source, blob: row.blob) }
    }
  }

  /// Notes what renditions were made of, or for whom, that are to be removed.
  fileprivate func addErasedContent(_ source: Digest, at now: Date) throws {
    try run(
      """
      INSERT INTO erased_content(source, erased) VALUES ($1, $2)
      ON CONFLICT (source) DO UPDATE SET erased = excluded.erased
      """, source, now)
  }

  /// Notes that the object store may have something of erased content.
  fileprivate func addErasedObject(_ source: Digest, blob: Digest?) throws {
    try run(
      """
      INSERT INTO erased_object(source, blob) VALUES ($1, $2)
      ON CONFLICT (source) DO UPDATE SET blob = excluded.blob
      """, source, blob)
  }

  /// Whether something refers to a blob.
  private func isReferenced(_ blob: Digest) throws -> Bool {
    try value(
      """
      SELECT EXISTS (SELECT 1 FROM notification WHERE blob = $1)
        OR EXISTS (SELECT 1 FROM asset WHERE blob = $1)
        OR EXISTS (SELECT 1 FROM asset_version WHERE blob = $1)
      """, blob) ?? false
  }
}

/// The tag that addressed an erased user, and what is in its place.
struct ErasedTag {
  /// The tag, `username:alice`.
  let name: String
  /// A tag that can be no user's, since no name has this character: an audience that was narrowed by the user's tag
  /// must not become wider without it.
  private let replacement: String

  /// The tag of a user.
  init(of name: String, user: UserID) {
    (self.name, replacement) = ("username:\(name)", "username:#\(user.rawValue)")
  }

  /// With LIKE it finds all texts that have the tag, and a few others.
  var pattern: String { "%\(name)%" }

  /// A text with the replacement for each tag.
  func replaced(in text: String) -> String {
    var (result, rest) = ("", text[...])
    while let found = rest.firstRange(of: name) {
      // It may be the beginning or the end of another tag.
      let isWhole =
        rest[found.upperBound...].unicodeScalars.first.map(Self.isPartOfTag) != true
        && text[..<found.lowerBound].unicodeScalars.last.map(Self.isPartOfTag) != true
      result += rest[..<found.lowerBound] + (isWhole ? replacement : name)
      rest = rest[found.upperBound...]
    }
    return result + rest
  }

  private static func isPartOfTag(_ character: Unicode.Scalar) -> Bool {
    character.properties.isAlphabetic || character.properties.numericType != nil
      || "_-@#.:".unicodeScalars.contains(character)
  }
}
