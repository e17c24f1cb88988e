package import FoundationEssentials

/// A secret that signs addresses of media, for those who hold no password.
package struct LinkKey: Sendable, Equatable {
  /// What an address names it by: the newest has the highest.
  package let id: Int
  /// 64 hexadecimal digits, which nobody but the servers of this store knows.
  package let secret: String
  /// When it was made.
  package let created: Date
}

extension Store {
  /// The keys that are valid, the newest first; there is always one.
  package func linkKeys() throws -> [LinkKey] {
    try database.read { connection in
      try connection.all("SELECT id, secret, created FROM link_key ORDER BY id DESC") { row in
        LinkKey(id: try row.next(), secret: try row.next(), created: try row.next())
      }
    }
  }

  /// Makes the key that signs from now on, and returns its id; older ones stay valid.
  package func addLinkKey() async throws -> Int {
    let created = now()
    let id = try await database.write { connection in
      try connection.value(
        "INSERT INTO link_key(secret, created) VALUES (?, ?) RETURNING id",
        LinkKey.newSecret(), created, as: Int.self)
    }
    guard let id else { throw StoreError(.failed, "the key was not stored") }
    return id
  }

  /// Ends every address that the key signed; false when it is the newest, or there is none such.
  package func removeLinkKey(_ id: Int) async throws -> Bool {
    try await database.write { connection in
      try connection.run(
        "DELETE FROM link_key WHERE id = ? AND id < (SELECT max(id) FROM link_key)", id) == 1
    }
  }
}

extension Connection {
  /// Makes a key where there is none.
  func makeFirstLinkKey() throws {
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
