import FoundationEssentials

extension SQLiteTables {
  func publication(ofFile path: String, in folder: String) throws -> FilePublication? {
    try database.first(
      """
      SELECT notification, sidecar, content, published FROM published_file
      WHERE folder = ? AND path = ?
      """, folder, path
    ) { row in
      FilePublication(
        notification: try row.next(), sidecar: try row.next(), content: try row.next(),
        published: try row.next())
    }
  }

  func replacement(of id: Int, limit: Int) throws -> ContentReplacement? {
    try database.read { connection in
      let time = try connection.value(
        "SELECT replaced FROM notification WHERE id = ?", id, as: Date?.self)
      guard let time, let time else { return nil }
      let users: [UserID] = try connection.column(
        "SELECT user FROM recipient WHERE notification = ? AND fetched <= ? ORDER BY user", id,
        time)
      return ContentReplacement(
        time: time, count: users.count,
        users: try connection.column(
          """
          SELECT name FROM json_each(?) AS wanted JOIN user ON user.id = wanted.value
          ORDER BY user.id
          """, SQLiteConnection.list(users.prefix(max(0, limit)).map(\.rawValue))))
    }
  }
}

extension SQLiteConnection {
  /// Records the file that a notification is made of, and another key by which it is found.
  func record(_ new: NotificationInsert, as notification: Int, at now: Date) throws {
    guard let file = new.file, let content = new.blob?.digest else { return }
    try run(
      """
      INSERT INTO published_file(folder, path, sidecar, content, notification, published)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET sidecar = excluded.sidecar, content = excluded.content,
        notification = excluded.notification, published = excluded.published
      """, file.folder, file.path, file.sidecar, content, notification, now)
    guard let key = new.idempotencyKey else { return }
    try run(
      "INSERT OR IGNORE INTO idempotency VALUES (?, ?, ?, ?)", new.sender?.rawValue ?? 0, key.key,
      key.request, notification)
  }
}
