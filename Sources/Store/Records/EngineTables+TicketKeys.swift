import FoundationEssentials

extension EngineTables {
  func ticketKeys() async throws -> [TicketKey] {
    let now = now()
    let present = try await database.read { try $0.ticketKeys() }
    if present.first?.makesTickets(at: now) == true { return present }
    return try await database.write { transaction in
      // Of several nodes one makes the key.
      try transaction.waitForOthers("ticket key")
      let present = try transaction.ticketKeys()
      if present.first?.makesTickets(at: now) == true { return present }
      transaction.effects.add(.ticketKeys)
      try transaction.run(
        "INSERT INTO ticket_key(secret, created) VALUES ($1, $2)", TicketKey.newSecret(), now)
      try transaction.run(
        """
        DELETE FROM ticket_key
        WHERE id NOT IN (SELECT id FROM ticket_key ORDER BY id DESC LIMIT $1)
        """, TicketKey.accepted)
      return try transaction.ticketKeys()
    }
  }

  func removeTicketKeys() async throws {
    let now = now()
    try await database.write { transaction in
      try transaction.waitForOthers("ticket key")
      transaction.effects.add(.ticketKeys)
      try transaction.run("DELETE FROM ticket_key")
      try transaction.audit(.ticketKeysRemoved, at: now)
    }
  }
}

extension Queryable {
  fileprivate func ticketKeys() throws -> [TicketKey] {
    try all("SELECT id, secret, created FROM ticket_key ORDER BY id DESC") { row in
      let (id, digits): (Int, String) = (try row.next(), try row.next())
      guard let secret = TicketKey.secret(digits) else {
        throw StoreError(.unreadable, "a key of session tickets in the database is none")
      }
      return TicketKey(id: id, secret: secret, created: try row.next())
    }
  }
}

extension TicketKey {
  /// Random bytes in hexadecimal, in which they are stored.
  fileprivate static func newSecret() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<size).map { _ in
      let digits = String(UInt8.random(in: .min ... .max, using: &generator), radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  fileprivate static func secret(_ text: String) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 2 * size, text.utf8.count == digits.count else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }
}
