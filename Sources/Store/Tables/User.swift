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

/// A user's number, which no other user ever gets, not even a later one of the same name.
///
/// All that belongs to a user belongs to the number.
package struct UserID: Sendable, Hashable, Comparable, RawRepresentable, Column {
  /// The number: 1 or higher.
  package let rawValue: Int

  /// Takes a number that was given before.
  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Who was there first.
  package static func < (one: UserID, other: UserID) -> Bool { one.rawValue < other.rawValue }
}

/// Somebody with a password.
package struct User: Sendable, Equatable {
  /// The number.
  package let id: UserID
  /// The name, which no other user has at the same time.
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
  ///
  /// A guest of that name is removed first.
  package func addUser(_ name: String, hash: String, role: Role) async throws {
    let created = now()
    try await database.write { connection in
      let guest = try connection.value(
        "SELECT id FROM user WHERE name = ? AND hash IS NULL", name, as: UserID.self)
      if let guest { try connection.remove(guest, at: created) }
      let added = try connection.run(
        """
        INSERT INTO user(name, hash, role, created) SELECT ?1, ?2, ?3, ?4
        WHERE NOT EXISTS (SELECT 1 FROM user WHERE name = ?1)
        """, name, hash, role, created)
      guard added == 1 else { throw StoreError(.conflict, "there is a user “\(name)” already") }
      try connection.countUserChange()
    }
  }

  /// Replaces a user's password hash; false when there is no such user.
  package func setPassword(of name: String, hash: String) async throws -> Bool {
    try await database.write { connection in
      try connection.countUserChange()
      return try connection.run(
        "UPDATE user SET hash = ? WHERE name = ? AND hash IS NOT NULL", hash, name) == 1
    }
  }

  /// Removes a user, or a guest, with all that was the user's; false when there is no such user.
  ///
  /// Of the notifications that the user got, the receipts stay without a name: publishers counted them.
  package func removeUser(_ name: String) async throws -> Bool {
    let moment = now()
    return try await database.write { connection in
      let id = try connection.value("SELECT id FROM user WHERE name = ?", name, as: UserID.self)
      guard let id else { return false }
      try connection.remove(id, at: moment)
      try connection.countUserChange()
      return true
    }
  }

  /// The user of that name, or nil.
  package func user(named name: String) throws -> User? {
    try database.read { connection in
      try connection.first(
        "SELECT \(User.columns) FROM user WHERE name = ? AND hash IS NOT NULL", name,
        read: User.init)
    }
  }

  /// All users by name, without the guests.
  package func users() throws -> [User] {
    try database.read { connection in
      try connection.all(
        "SELECT \(User.columns) FROM user WHERE hash IS NOT NULL ORDER BY name", read: User.init)
    }
  }

  /// Whether there is a user, or a guest, with this number still.
  package func isUser(_ id: UserID) throws -> Bool {
    try database.read { try $0.isUser(id) }
  }

  /// How often users were added, changed and removed; a guest that is made does not count.
  package func userChanges() throws -> Int {
    try database.read { connection in
      try connection.value("SELECT next FROM counter WHERE name = 'user changes'") ?? 0
    }
  }
}

extension User {
  fileprivate static let columns = "id, name, hash, role, created"

  fileprivate init(_ row: inout Row) throws {
    try self.init(
      id: row.next(), name: row.next(), hash: row.next(), role: row.next(), created: row.next())
  }
}

extension Connection {
  func isUser(_ id: UserID) throws -> Bool {
    try value("SELECT 1 FROM user WHERE id = ?", id) ?? false
  }

  fileprivate func countUserChange() throws {
    try run("UPDATE counter SET next = next + 1 WHERE name = 'user changes'")
  }

  /// Removes a user; the rows that count what became of notifications keep a number that is nobody's.
  func remove(_ user: UserID, at moment: Date) throws {
    try run(
      "UPDATE job SET state = 'cancelled', updated = ? WHERE state = 'queued' AND user = ?", moment,
      user)
    try run(
      """
      DELETE FROM device_receipt
      WHERE user = ?1 AND notification IN (SELECT notification FROM recipient WHERE user = ?1)
      """, user)
    try run("DELETE FROM registration WHERE user = ?", user)
    try run("DELETE FROM push_event WHERE user = ?", user)
    try run("DELETE FROM event WHERE publisher = ?", user)
    try run("DELETE FROM idempotency WHERE sender = ?", user)
    try run("DELETE FROM user WHERE id = ?", user)
  }
}
