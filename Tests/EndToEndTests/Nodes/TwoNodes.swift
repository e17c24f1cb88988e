import StandIns

/// Two nodes with one PostgreSQL database and one object store, each with a drop folder of its own.
struct TwoNodes {
  let first: RunningServer
  let second: RunningServer
  let database: PostgresServer

  /// Starts all of it, lends it to the body, and expects each node to end cleanly afterwards.
  static func lend(to body: (TwoNodes) async throws -> Void) async throws {
    let (objects, database) = (try StandIn("object_store"), try PostgresServer())
    let flags = [
      "--demo", "--database", database.url, "--objects",
      "s3://content/richpush?endpoint=http://127.0.0.1:\(objects.port)",
    ]
    let key = [
      "RICHPUSH_OBJECTS_ACCESS_KEY": "richpush:media", "RICHPUSH_OBJECTS_SECRET_KEY": "s3secret",
    ]
    try await RunningServer.lend(flags: flags, environment: key) { first in
      try await RunningServer.lend(flags: flags, environment: key) { second in
        try await body(TwoNodes(first: first, second: second, database: database))
      }
    }
    withExtendedLifetime(objects) {}
  }
}
