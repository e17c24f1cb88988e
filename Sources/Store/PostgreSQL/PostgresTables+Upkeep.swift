import FoundationEssentials
import Glibc
import Primitives

// MARK: - Checks

extension PostgresTables {
  func check() async throws -> DatabaseFindings {
    // Takes long.
    try await BlockingQueue("store.check").run { [url = database.url] in
      try PostgresConnection(url, for: .maintenance).check()
    }
  }

  func copy(to folder: DataFolder, _ dump: (DatabaseDump) throws -> Void) throws -> [Digest] {
    let connection = try PostgresConnection(database.url, for: .maintenance)
    try connection.script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    let (snapshot, schema) =
      try connection.all(
        "SELECT pg_export_snapshot(), '\"' || replace(current_schema(), '\"', '\"\"') || '\"'"
      ) { ($0 as String, $1 as String) }.first ?? ("", "")
    let url = ConnectionURL.removingPassword(database.url)
    let password = connection.password
    try dump(
      DatabaseDump(
        arguments: [
          "--format=custom", "--no-owner", "--no-privileges", "--snapshot=\(snapshot)",
          "--table=\(schema).*", "--exclude-table-data=\(schema).ticket_key",
          "--file=\(folder.dump)", "--dbname=\(url)",
        ], environment: password.isEmpty ? [:] : ["PGPASSWORD": password]))
    let blobs = try connection.referencedBlobs()
    guard stat(ofFile: folder.dump).map({ $0.st_size > 0 }) == true else {
      throw StoreError(.failed, "pg_dump has written nothing")
    }
    try folder.setDatabase(url)
    return blobs
  }

  func size() async throws -> Int {
    try await database.read { connection in
      try connection.value(
        """
        SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
        """) ?? 0
    }
  }

  func contentOwner() async throws -> String? {
    try await database.read { connection in
      try connection.value(
        """
        SELECT system_identifier::text || '.' || database.oid::text || '.' || current_schema()
        FROM pg_control_system(), pg_database AS database WHERE datname = current_database()
        """, as: String.self)
    }
  }
}

// MARK: - What is left of removed rows

extension PostgresTables {
  // Plain VACUUM: the tables can be used meanwhile.
  func eraseRemovedRows(isAlone: Bool) async throws -> String? {
    try await BlockingQueue("store.erasure").run { [url = database.url] in
      let connection = try PostgresConnection(url, for: .maintenance)
      for table in MigratedTable.all { try connection.script("VACUUM \(table.name)") }
      return nil
    }
  }

  // What refers to content locks its row of this table, whether or not there is one (`Changing.requireRenewed`).
  func awaitReferences() async throws {
    try await BlockingQueue("store.erasure").run { [url = database.url] in
      try PostgresConnection(url, for: .writing)
        .script("BEGIN; LOCK TABLE erased_content IN EXCLUSIVE MODE; COMMIT")
    }
  }
}
