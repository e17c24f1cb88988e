import CSQLite

/// The prepared statements of one connection by their text; one in use is out of the cache.
final class StatementCache {
  private var idle: [String: OpaquePointer] = [:]

  func take(_ sql: String, for connection: OpaquePointer) throws(StoreError) -> OpaquePointer {
    if let statement = idle.removeValue(forKey: sql) { return statement }
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let status = sqlite3_prepare_v3(connection, sql, -1, flags, &prepared, nil)
    guard status == SQLITE_OK, let prepared else {
      throw StoreError(connection, "prepare \(sql.prefix(60))")
    }
    return prepared
  }

  /// Takes a statement back: without its reset the connection would hold its snapshot for ever.
  func giveBack(_ statement: OpaquePointer, _ sql: String) {
    sqlite3_reset(statement)
    sqlite3_clear_bindings(statement)
    if let twin = idle.updateValue(statement, forKey: sql) { sqlite3_finalize(twin) }
  }

  func finalizeAll() {
    for statement in idle.values { sqlite3_finalize(statement) }
    idle = [:]
  }
}
