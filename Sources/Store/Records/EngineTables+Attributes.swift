import FoundationEssentials

extension EngineTables {
  func attributes(of user: UserID) async throws -> [String: String] {
    try await database.read { connection in
      try connection.dictionary("SELECT name, value FROM user_attribute WHERE user_id = $1", user)
    }
  }

  func attributes(named names: [String]) async throws -> [String: [String: String]] {
    try await database.read { connection in
      var found: [String: [String: String]] = [:]
      _ = try connection.rows(
        """
        SELECT users.name, user_attribute.name, value
        FROM users LEFT JOIN user_attribute ON user_id = id WHERE users.name \(connection.isIn("$1"))
        """, values: [names], limit: .max
      ) { row in
        let user: String = try row.next()
        let (name, value): (String?, String?) = (try row.next(), try row.next())
        found[user, default: [:]][name ?? ""] = value
      }
      return found
    }
  }

  func setAttributes(_ attributes: [String: [String: String]]) async throws -> Set<String> {
    let now = now()
    return try await database.write { transaction in
      try transaction.requireSpace()
      let names = attributes.keys.sorted()
      let users: [String: UserID] = try transaction.dictionary(
        """
        SELECT name, id FROM users WHERE name \(transaction.isIn("$1")) ORDER BY id
        \(transaction.lock("FOR SHARE"))
        """, names)
      for (name, user) in users.sorted(by: { $0.value < $1.value }) {
        try transaction.send("DELETE FROM user_attribute WHERE user_id = $1", user)
        for (attribute, value) in (attributes[name] ?? [:]).sorted(by: { $0.key < $1.key }) {
          try transaction.send(
            "INSERT INTO user_attribute VALUES ($1, $2, $3)", user, attribute, value)
        }
      }
      if let user = users.values.first {
        try transaction.audit(
          .attributesChanged, users.count == 1 ? .user(user) : nil, count: users.count, at: now)
      }
      return Set(users.keys)
    }
  }

  func attributes(_ names: [String], of users: [UserID]) async throws -> RecipientValues {
    guard let first = users.first, let last = users.last, !names.isEmpty else {
      return RecipientValues(names)
    }
    return try await database.read { connection in
      var found = RecipientValues(names)
      var rest = users[...]
      let few = users.count <= Self.fewUsers ? users : []
      // Of many users, all between the first and the last are read.
      _ = try connection.rows(
        """
        SELECT user_id, name, value FROM user_attribute
        WHERE user_id BETWEEN $1 AND $2 AND name \(connection.isIn("$3"))
          \(few.isEmpty ? "" : "AND user_id \(connection.isIn("$4"))")
        ORDER BY user_id
        """, values: [first, last, names] + (few.isEmpty ? [] : [few]), limit: .max
      ) { row in
        let (user, name): (UserID, String) = (try row.next(), try row.next())
        let value: String = try row.next()
        while let next = rest.first, next < user { rest.removeFirst() }
        if rest.first == user { found.set(name, of: user, to: value) }
      }
      return found
    }
  }

  private static var fewUsers: Int { 1000 }

  func values(of notifications: [Int], users: [UserID]) async throws -> [Int: [UserID: String]] {
    try await database.read { connection in
      var found: [Int: [UserID: String]] = [:]
      _ = try connection.all(
        """
        SELECT notification, user_id, data FROM recipient_values
        WHERE notification \(connection.isIn("$1")) AND user_id \(connection.isIn("$2"))
        """, notifications, users
      ) { row in
        let (notification, user): (Int, UserID) = (try row.next(), try row.next())
        found[notification, default: [:]][user] = try row.next(String.self)
      }
      for notification in notifications {
        // What is still to be written is newer.
        let hasParts = try connection.value(
          "SELECT EXISTS (SELECT 1 FROM audience_part WHERE notification = $1 AND data IS NOT NULL)",
          notification, as: Bool.self)
        guard hasParts == true else { continue }
        for user in users {
          let pending = try connection.value(
            """
            SELECT data ->> CAST($3 AS text) FROM audience_part
            WHERE notification = $1 AND push IS NULL AND first <= $2 AND last >= $2
              AND data ->> CAST($3 AS text) IS NOT NULL LIMIT 1
            """, notification, user, RecipientValues.member(of: user), as: String.self)
          if let pending { found[notification, default: [:]][user] = pending }
        }
      }
      return found
    }
  }
}

extension Queryable {
  /// Whether the placeholders of a notification stand for these values already.
  func hasValues(_ values: RecipientValues, of notification: Int) throws -> Bool {
    let stored: [UserID: String] = try dictionary(
      "SELECT user_id, data FROM recipient_values WHERE notification = $1", notification)
    return stored.count == values.users.count
      && values.users.allSatisfy { stored[$0] == values.text(of: $0) }
  }
}
