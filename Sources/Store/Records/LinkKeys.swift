package import FoundationEssentials

/// A secret that signs links to media, which need no password.
package struct LinkKey: Sendable, Equatable {
  /// Links name the key by it; the newest has the highest.
  package let id: Int
  /// 64 hexadecimal digits.
  package let secret: String
  /// When it was created.
  package let created: Date
}

extension Store {
  /// The valid keys, newest first; there is always one.
  package func linkKeys() throws -> [LinkKey] {
    try database.all(
      "SELECT id, secret, created FROM link_key ORDER BY id DESC", as: LinkKey.init)
  }

  /// Adds a key, which signs new links from now on, and returns its id; older ones stay valid.
  package func addLinkKey() async throws -> Int {
    let now = now()
    let id = try await database.write { connection in
      try connection.value(
        "INSERT INTO link_key(secret, created) VALUES (?, ?) RETURNING id",
        LinkKey.newSecret(), now, as: Int.self)
    }
    guard let id else { throw StoreError(.failed, "the key was not stored") }
    return id
  }

  /// Revokes every link the key signed; false if it is the newest key, or there is no such key.
  package func removeLinkKey(_ id: Int) async throws -> Bool {
    try await database.run(
      "DELETE FROM link_key WHERE id = ? AND id < (SELECT max(id) FROM link_key)", id) == 1
  }
}

extension SQLiteConnection {
  /// Adds the first key to a new database.
  func addFirstLinkKey() throws {
    try run(
      "INSERT INTO link_key(secret, created) SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM link_key)",
      LinkKey.newSecret(), Date())
  }
}

extension LinkKey {
  /// 32 bytes of the system's randomness, in hexadecimal.
  fileprivate static func newSecret() -> String {
    (0..<4).map { _ in
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
