import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Three nodes with one PostgreSQL database, one object store and one drop folder, behind a balancer.
struct Cluster: Sendable {
  let nodes: [RunningServer]
  let balancer: Balancer
  let database: PostgresServer
  /// The way of each node to the database, which can be cut; none unless asked for.
  let relays: [SocketRelay]
  /// OpenStack Swift with its S3 interface.
  let objects: StandIn

  /// What a suite with a cluster needs.
  static var isPossible: Bool {
    PostgresServer.isInstalled && FileManager.default.isExecutableFile(atPath: Balancer.haproxy)
  }

  /// Starts all of it, lends it to the body, and expects each node to end cleanly afterwards.
  static func lend(
    balancer program: Balancer.Program = .haproxy, flags: [String] = [],
    environment: [String: String] = [:], isRelayed: Bool = false, programs: URL? = nil,
    prepare: (Scratch) throws -> Void = { _ in }, to body: (Cluster) async throws -> Void
  ) async throws {
    let (database, objects) = (try PostgresServer(), try StandIn("object_store"))
    let shared = try Scratch()
    try shared.dropSamples()
    let own = [
      "RICHPUSH_OBJECTS_ACCESS_KEY": "richpush:media", "RICHPUSH_OBJECTS_SECRET_KEY": "s3secret",
    ]
    let store = "s3://content/richpush?endpoint=http://127.0.0.1:\(objects.port)"
    let relays = try (0..<(isRelayed ? 3 : 0)).map { _ in try database.relay() }
    defer { for (relay, _) in relays { relay.stop() } }
    let flags = ["--demo", "--trusted-proxy", "127.0.0.1", "--objects", store] + flags

    func lendNodes(_ nodes: [RunningServer]) async throws {
      guard nodes.count < 3 else {
        let balancer = try await Balancer(program, for: nodes)
        try await body(
          Cluster(
            nodes: nodes, balancer: balancer, database: database, relays: relays.map(\.relay),
            objects: objects))
        return await balancer.stop()
      }
      let url = isRelayed ? relays[nodes.count].url : database.url
      let flags = flags + ["--database", url]
      try await RunningServer.lend(
        flags: flags, environment: own.merging(environment) { $1 }, programs: programs,
        prepare: { scratch in
          let assets = scratch.folder.appending(path: "assets")
          try FileManager.default.removeItem(at: assets)
          try FileManager.default.createSymbolicLink(
            at: assets, withDestinationURL: shared.folder.appending(path: "assets"))
          try prepare(scratch)
        }
      ) { try await lendNodes(nodes + [$0]) }
    }
    try await lendNodes([])
  }

  /// The API behind the balancer, as a user.
  func client(_ user: String) -> RichPushClient {
    RichPushClient(endpoint: balancer.endpoint, user: user, password: user)
  }

  /// Repeats what no node was there to answer, or what the one that was asked could not do then.
  static func patiently<Value>(_ body: () async throws -> Value) async throws -> Value {
    var value: Value?
    try await eventually("it is answered") {
      do { value = try await body() } catch let error as RichPushError
        where [.unreachable, .unavailable].contains(error.code)
      {}
      return value != nil
    }
    return try #require(value)
  }
}
