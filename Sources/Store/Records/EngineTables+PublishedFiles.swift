import FoundationEssentials

extension EngineTables {
  func publication(ofFile path: String, in folder: String) async throws -> FilePublication? {
    try await database.read { connection in
      try connection.first(
        """
        SELECT notification, sidecar, content, published FROM published_file
        WHERE folder = $1 AND path = $2
        """, folder, path
      ) { row in
        FilePublication(
          notification: try row.next(), sidecar: try row.next(), content: try row.next(),
          published: try row.next())
      }
    }
  }

  func replacement(of id: Int, limit: Int) async throws -> ContentReplacement? {
    try await database.read { connection in
      let time = try connection.value(
        "SELECT replaced FROM notification WHERE id = $1 AND replaced IS NOT NULL", id,
        as: Date.self)
      guard let time else { return nil }
      let users: [UserID] = try connection.column(
        "SELECT user_id FROM recipient WHERE notification = $1 AND fetched <= $2 ORDER BY user_id",
        id, time)
      return ContentReplacement(
        time: time, count: users.count,
        users: try connection.column(
          "SELECT name FROM users WHERE id \(connection.isIn("$1")) ORDER BY id",
          Array(users.prefix(max(0, limit)))))
    }
  }
}

extension Changing {
  /// Records the file that a notification is made of, and another key by which it is found.
  func record(_ new: NotificationInsert, as notification: Int, at now: Date) throws {
    guard let file = new.file, let content = new.blob?.digest else { return }
    try send(
      """
      INSERT INTO published_file(folder, path, sidecar, content, notification, published)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (folder, path) DO UPDATE SET sidecar = excluded.sidecar,
        content = excluded.content, notification = excluded.notification,
        published = excluded.published
      """, file.folder, file.path, file.sidecar, content, notification, now)
    guard let key = new.idempotencyKey else { return }
    try send(
      "INSERT INTO idempotency VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
      new.sender?.rawValue ?? 0, key.key,
      key.request, notification)
  }
}
