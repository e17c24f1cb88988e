import FoundationEssentials

extension EngineTables {
  func receipts(of id: Int) async throws -> [Receipt] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(Receipt.columns)
        FROM recipient LEFT JOIN users ON users.id = user_id
        WHERE notification = $1 ORDER BY name IS NULL, name, user_id
        """, id, as: Receipt.init)
    }
  }

  func receipts(of id: Int, users: [UserID]) async throws -> [Receipt] {
    try await database.read { try $0.receipts(of: id, users: users) }
  }

  func receipts(
    of id: Int, in state: ReceiptState?, after: Int, limit: Int
  ) async throws -> [Receipt] {
    try await database.read { connection in
      var users: [UserID] = []
      // An index has the recipients in each state in order.
      for state in state.map({ [$0] }) ?? ReceiptState.allCases {
        users += try connection.column(
          """
          SELECT user_id FROM recipient
          WHERE notification = $1 AND \(connection.progress) = \(state.progress) AND user_id > $2
          ORDER BY user_id LIMIT $3
          """, id, after, max(0, limit))
      }
      return try connection.receipts(of: id, users: Array(users.sorted().prefix(max(0, limit))))
    }
  }

  func deviceReceipts(of id: Int, users: [UserID]) async throws -> [DeviceReceipt] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT name, registration, fetched, read, displayed, opened, dismissed
        FROM device_receipt JOIN users ON users.id = user_id
        WHERE notification = $1 AND user_id \(connection.isIn("$2"))
        ORDER BY name, registration
        """, id, users, as: DeviceReceipt.init)
    }
  }
}

extension Queryable {
  fileprivate func receipts(of id: Int, users: [UserID]) throws -> [Receipt] {
    try all(
      """
      SELECT \(Receipt.columns)
      FROM recipient LEFT JOIN users ON users.id = user_id
      WHERE notification = $1 AND user_id \(isIn("$2")) ORDER BY user_id
      """, id, users, as: Receipt.init)
  }
}

extension Receipt {
  /// The columns of `recipient` and `users` that a receipt has.
  fileprivate static let columns = """
    user_id, name, sent, fetched, read, displayed, opened, dismissed, due
    """
}
