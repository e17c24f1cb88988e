/// Guests are names without a password: the users of the demonstration, where anybody gets in.
extension Store {
  /// The user of that name; a guest, too, where guests are admitted.
  package func userID(of name: String, admittingGuests: Bool) throws -> UserID? {
    try database.read { try $0.userID(of: name, admittingGuests: admittingGuests) }
  }

  /// The users of these names; a name that nobody has is left out, or becomes a guest's.
  package func userIDs(
    of names: Set<String>, admittingGuests: Bool
  ) async throws -> [String: UserID] {
    var ids: [String: UserID] = [:]
    try database.read { connection in
      for name in names {
        ids[name] = try connection.userID(of: name, admittingGuests: admittingGuests)
      }
    }
    let missing = names.filter { ids[$0] == nil }
    guard admittingGuests, !missing.isEmpty else { return ids }
    let moment = now()
    let guests = try await database.write { connection in
      try missing.sorted().map { name in
        try connection.run(
          """
          INSERT INTO user(name, role, created) SELECT ?1, 'device', ?2
          WHERE NOT EXISTS (SELECT 1 FROM user WHERE name = ?1)
          """, name, moment)
        return (name, try connection.userID(of: name, admittingGuests: true))
      }
    }
    for (name, id) in guests { ids[name] = id }
    return ids
  }

  /// Removes all guests: where passwords count, nobody may inherit what was for a name.
  package func removeGuests() {
    let moment = now()
    database.writeSoon { connection in
      let guests = try connection.all("SELECT id FROM user WHERE hash IS NULL") {
        try $0.next(UserID.self)
      }
      for guest in guests { try connection.remove(guest, at: moment) }
    }
  }
}

extension Connection {
  fileprivate func userID(of name: String, admittingGuests: Bool) throws -> UserID? {
    try value(
      "SELECT id FROM user WHERE name = ? AND (hash IS NOT NULL OR ?)", name, admittingGuests)
  }
}
