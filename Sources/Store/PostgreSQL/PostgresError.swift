/// The SQLSTATE of a failed statement, by which a caller decides what to do next.
enum SQLState {
  /// `serialization_failure`, `deadlock_detected`.
  static let conflicts = ["40001", "40P01"]
}

extension StoreError {
  /// A database that does not answer; callers may try again later.
  static func unavailable(_ reason: String) -> StoreError {
    StoreError(.unavailable, "the database is not available: \(reason)")
  }

  /// Describes a failed statement by its SQLSTATE and the server's message.
  init(sqlState state: String, _ message: String) {
    switch state {
    case "53100":
      self.init(
        .full, "the disk of the PostgreSQL server is full (\(message)): make space there",
        retryAfter: 30)
    case _ where ["08", "53"].contains(state.prefix(2)), "57P01", "57P02", "57P03", "57P05",
      "25P03":
      self = .unavailable(message)
    case "57014", "55P03", "40001", "40P01":
      self.init(.busy, "the database is busy (\(message)); try again")
    case "25006", "42501":
      self.init(.readOnly, "the database may not be written to (\(message))")
    case _ where state.hasPrefix("23"):
      self.init(.conflict, "the change contradicts what is stored (\(message))")
    case "XX001", "XX002":
      self.init(
        .damaged,
        "the database is damaged (\(message)): stop the server, run richpush store check, and restore the last "
          + "backup with richpush store restore")
    default:
      self.init(.failed, "the database could not run a statement: \(message) (SQLSTATE \(state))")
    }
  }
}
