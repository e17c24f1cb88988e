import Dispatch
import FoundationEssentials

/// The tables in a PostgreSQL database, which several nodes share.
///
/// Reads run on threads that may wait for the server, in ``PostgresReaders``. Writes that wait at the same time
/// share one transaction (``PostgresWriter``). After each commit its effects are performed on this node, and
/// with a message on the others (``PostgresListener``).
final class PostgresTables: EngineTables {
  let database: PostgresDatabase
  let blobs: Blobs
  let now: @Sendable () -> Date
  /// Identifies this process's leases: an outcome counts only if the lease has not passed to another.
  let owner: String
  let pendingReceipts = PendingReceipts()
  private let listener: PostgresListener?

  /// Connects to a database, and creates or migrates its tables as needed.
  ///
  /// `start` is nil for a process that is no node.
  init(
    at url: String, start: NodeStart?, rules: SendingRules, blobs: Blobs,
    observers: CommitObservers,
    now: @escaping @Sendable () -> Date
  ) throws {
    let owner = start?.owner ?? UUID().uuidString
    let contact = start.map { _ in PostgresContact(observers: observers) }
    let origin = MessageOrigin(owner)
    database = try PostgresDatabase(
      url: url, rules: rules, origin: origin, contact: contact, observers: observers
    ) { try $0.addFirstKeys() }
    (self.blobs, self.now, self.owner) = (blobs, now, owner)
    listener = contact.map { [database] contact in
      PostgresListener(url: url, origin: origin, observers: observers, contact: contact) { lanes in
        try await database.read { Set(try $0.lanesWithJobs(among: Array(lanes))) }
      }
    }
    if let start { releaseLeases(ofNode: start.node) }
  }

  deinit { listener?.stop() }

  var schema: DatabaseSchema {
    DatabaseSchema(database: "PostgreSQL", version: PostgresSchema.version)
  }

  func turn(_ group: DispatchGroup) { database.turn(group) }

  func probe() async throws {
    try await probeReading()
    try await database.write { transaction in
      _ = try transaction.value("SELECT push_event FROM event_counter", as: Int.self)
      // What only reads is not written to the server's log.
      try transaction.run("SELECT pg_current_xact_id()")
    }
  }

  func probeReading() async throws { _ = try await latestPushEvent() }

  var damage: DatabaseDamage { database.damage }

  func lockHolder() -> String? { nil }

  func clock() async throws -> (ahead: TimeInterval, error: TimeInterval)? {
    try await database.read { [now] connection in
      let start = now()
      let time = try connection.value(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", as: Int.self)
      let error = now().timeIntervalSince(start) / 2
      return time.map { (Double($0) / 1e6 - start.timeIntervalSince1970 - error, error) }
    }
  }

  func access() async throws -> DatabaseAccess? {
    try await database.read { connection in
      DatabaseAccess(
        database: try connection.value("SELECT current_database()::text", as: String.self) ?? "",
        isPublic: try connection.value(
          """
          SELECT EXISTS (SELECT 1
            FROM pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba)))
            WHERE datname = current_database() AND grantee = 0 AND privilege_type = 'CONNECT')
          """, as: Bool.self) == true,
        roles: try connection.column(
          """
          SELECT rolname::text FROM pg_roles
          WHERE rolcanlogin AND NOT rolsuper AND NOT pg_has_role(oid, current_user, 'MEMBER')
            AND has_database_privilege(oid, current_database(), 'CONNECT') ORDER BY 1 LIMIT 5
          """))
    }
  }
}
