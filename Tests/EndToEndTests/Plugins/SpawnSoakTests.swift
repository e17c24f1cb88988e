import Foundation
import RichPushClient
import Testing
import Waiting

/// Thousands of processes, one after the other and several at a time, leave nothing behind.
@Suite(.timeLimit(.minutes(10))) struct SpawnSoakTests {
  /// What the server and its launcher's processes hold at one moment.
  private struct Holding {
    let server: ProcessFacts
    let launcher: [ProcessFacts]
    /// No call is being answered, and nothing is left of those that were.
    let isQuiet: Bool

    init(of server: RunningServer) throws {
      let family = ProcessFacts.family(of: server.processIdentifier)
      self.server = try #require(family.first)
      launcher = family.filter { $0.words.first?.hasSuffix("/richpush-exec") == true }
      isQuiet = !family.contains { $0.state == "Z" || $0.words.last?.hasSuffix("/good") == true }
    }

    var launcherMemory: Int { launcher.map(\.memory).max() ?? 0 }
    var launcherDescriptors: Int { launcher.map(\.descriptors).max() ?? 0 }

    func hasGrown(since before: Holding) -> Bool {
      // As many supervisors may have come as plugins run at a time, with four descriptors each.
      server.descriptors > before.server.descriptors + 16
        || server.threads > before.server.threads + 2
        || server.memory > before.server.memory + 2048
        || launcher.count > before.launcher.count + 4
        || launcherDescriptors > before.launcherDescriptors
        || launcherMemory > before.launcherMemory + 64
    }
  }

  @Test func `starts ten thousand processes without growing`() async throws {
    let spawns = Soak.amount(short: 400, long: 10_000)
    try await RunningServer.lend { scratch in
      try scratch.drop(Array(Bystander.plugin.utf8), as: "plugins/good", executable: true)
    } to: { server in
      let alice = server.client("alice")
      let ids = try await withThrowingTaskGroup(of: Int.self) { group in
        for index in 0..<4 {
          group.addTask {
            try await alice.create(
              NewNotification("m", richType: "good", payload: "\(index)", to: .users(["alice"]))
            ).id
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try await eventually("the samples are ready") {
        try await alice.assetCounts().ready == Scratch.samples.count
      }
      try Self.ask(ids, times: spawns / 4, on: server)
      var before = try await Self.holding(of: server)
      try Self.ask(ids, times: spawns, on: server)
      var after = try await Self.holding(of: server)
      // A thread that was first needed now has memory of its own; what is leaked grows each time.
      for _ in 0..<2 where after.hasGrown(since: before) {
        before = after
        try Self.ask(ids, times: spawns, on: server)
        after = try await Self.holding(of: server)
      }
      #expect(!after.hasGrown(since: before), "\(before) \(after)")
    }
  }

  /// Once all is quiet; a zombie, or what a plugin left, is never quiet.
  private static func holding(of server: RunningServer) async throws -> Holding {
    try await eventually("nothing is left of the plugin") { try Holding(of: server).isQuiet }
    return try Holding(of: server)
  }

  /// Asks for each in turn, four at a time, so many times in all.
  private static func ask(_ ids: [Int], times: Int, on server: RunningServer) throws {
    let connections = try ids.map { _ in try RawConnection(port: server.port) }
    for _ in 0..<times / ids.count {
      for (id, connection) in zip(ids, connections) {
        connection.ask("GET", "/api/notifications/\(id)")
      }
      for connection in connections { #expect(try connection.answer().status == 200) }
    }
  }
}
