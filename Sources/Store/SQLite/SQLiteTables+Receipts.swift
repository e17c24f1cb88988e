import FoundationEssentials

extension SQLiteTables {
  func receipts(of id: Int) throws -> [Receipt] {
    try database.all(
      """
      SELECT \(Receipt.columns)
      FROM recipient LEFT JOIN user ON user.id = recipient.user
      WHERE notification = ? ORDER BY name IS NULL, name, recipient.user
      """, id, as: Receipt.init)
  }

  func receipts(of id: Int, users: [UserID]) throws -> [Receipt] {
    try database.read { try $0.receipts(of: id, users: users) }
  }

  func receipts(
    of id: Int, in state: ReceiptState?, after: Int, limit: Int
  ) throws -> [Receipt] {
    try database.read { connection in
      var users: [UserID] = []
      // An index has the recipients in each state in order.
      for state in state.map({ [$0] }) ?? ReceiptState.allCases {
        users += try connection.column(
          """
          SELECT user FROM recipient
          WHERE notification = ? AND progress = ? AND user > ? ORDER BY user LIMIT ?
          """, id, state.progress, after, max(0, limit))
      }
      return try connection.receipts(of: id, users: Array(users.sorted().prefix(max(0, limit))))
    }
  }

  func deviceReceipts(of id: Int, users: [UserID]) throws -> [DeviceReceipt] {
    try database.all(
      """
      SELECT name, registration, fetched, read
      FROM json_each(?) AS wanted CROSS JOIN device_receipt ON device_receipt.user = wanted.value
        JOIN user ON user.id = device_receipt.user
      WHERE notification = ? ORDER BY name, registration
      """, SQLiteConnection.list(users.map(\.rawValue)), id, as: DeviceReceipt.init)
  }
}

extension SQLiteConnection {
  fileprivate func receipts(of id: Int, users: [UserID]) throws -> [Receipt] {
    try all(
      """
      SELECT \(Receipt.columns)
      FROM json_each(?) AS wanted CROSS JOIN recipient ON recipient.user = wanted.value
        LEFT JOIN user ON user.id = recipient.user
      WHERE notification = ? ORDER BY recipient.user
      """, Self.list(users.map(\.rawValue)), id, as: Receipt.init)
  }
}

extension Receipt {
  /// The columns of `recipient` and `user` that a receipt has.
  fileprivate static let columns = "recipient.user, name, sent, fetched, read"
}
