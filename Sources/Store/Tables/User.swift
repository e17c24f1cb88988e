package import FoundationEssentials

/// What a user may do.
package enum Role: String, Sendable, CaseIterable, Column {
  /// Gets its own notifications.
  case device
  /// Creates notifications for others and uploads assets.
  case publisher
  /// May do everything.
  case admin
}

/// Somebody with a password.
package struct User: Sendable, Equatable {
  /// The name, which no other user has.
  package let name: String
  /// The password's hash as crypt(3) writes it.
  package let hash: String
  /// What the user may do.
  package let role: Role
  /// When the user was added.
  package let created: Date
}

extension Store {
  /// Adds a user; throws `conflict` when the name is taken.
  package func addUser(_ name: String, hash: String, role: Role) async throws {
    let created = now()
    try await database.write { connection in
      let added = try connection.run(
        "INSERT INTO user VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        name, hash, role, created)
      guard added == 1 else { throw StoreError(.conflict, "there is a user “\(name)” already") }
    }
  }

  /// Replaces a user's password hash; false when there is no such user.
  package func setPassword(of name: String, hash: String) async throws -> Bool {
    try await database.write { connection in
      try connection.run("UPDATE user SET hash = ? WHERE name = ?", hash, name) == 1
    }
  }

  /// Removes a user and the user's registrations; false when there is no such user.
  package func removeUser(_ name: String) async throws -> Bool {
    try await database.write { connection in
      try connection.run("DELETE FROM registration WHERE user = ?", name)
      return try connection.run("DELETE FROM user WHERE name = ?", name) == 1
    }
  }

  /// The user of that name, or nil.
  package func user(named name: String) throws -> User? {
    try database.read { connection in
      try connection.first(
        "SELECT name, hash, role, created FROM user WHERE name = ?", name, read: User.init)
    }
  }

  /// All users by name.
  package func users() throws -> [User] {
    try database.read { connection in
      try connection.all(
        "SELECT name, hash, role, created FROM user ORDER BY name", read: User.init)
    }
  }
}

extension User {
  fileprivate init(_ row: inout Row) throws {
    try self.init(name: row.next(), hash: row.next(), role: row.next(), created: row.next())
  }
}
