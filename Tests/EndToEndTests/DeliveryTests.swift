import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// What was acknowledged arrives: once, in order, unchanged, whatever happens to the server.
@Suite(.timeLimit(.minutes(5))) struct DeliveryTests {
  private static let clients = 8
  private static let each = 25

  @Test func `delivers 200 notifications of 8 clients once, in order and bit for bit`()
    async throws
  {
    try await RunningServer.lend { server in
      async let received = Self.listen(to: server, for: "alice", count: Self.clients * Self.each)
      let acknowledged = try await Self.createAll(on: server, for: "alice") { _ in }
      try await Self.expect(try await received, equals: acknowledged, on: server)
    }
  }

  @Test func `loses nothing acknowledged when it is stopped or killed half-way`() async throws {
    try await RunningServer.lend { server in
      async let received = Self.listen(to: server, for: "alice", count: Self.clients * Self.each)
      let total = Self.clients * Self.each
      let acknowledged = try await Self.createAll(on: server, for: "alice") { count in
        if count == total / 3 { try await server.restart(by: SIGTERM) }
        if count == total * 2 / 3 { try await server.restart(by: SIGKILL) }
      }
      try await Self.expect(try await received, equals: acknowledged, on: server)
    }
  }

  @Test func `gives a phone that was away what it missed, once`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      var first = alice.events(after: "0").makeAsyncIterator()
      _ = try await alice.create(.logo(to: "alice", "seen"))
      let seen = try #require(try await first.next())
      for number in 1...3 { _ = try await alice.create(.logo(to: "alice", "missed \(number)")) }
      try await server.restart(by: SIGKILL)
      _ = try await alice.create(.logo(to: "alice", "after"))
      var messages: [String?] = []
      for try await event in alice.events(after: seen.id) {
        messages.append(event.push.message.text)
        if messages.count == 4 { break }
      }
      #expect(messages == ["missed 1", "missed 2", "missed 3", "after"])
    }
  }

  @Test func `sends at once after a kill what was being sent, under the same id`() async throws {
    try await PushServices.lend(lanes: "apns") { server, services in
      // Longer than a lease.
      try services.apns.answer(["*": [["status": 200, "delay": 600]]])
      try await server.client("alice").register(handle: "AB12")
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      let first = try await services.apns.pushes(1)
      try services.apns.answer(["*": [["status": 200]]])
      try await server.restart(by: SIGKILL)
      let second = try await services.apns.pushes(1)
      #expect(first.map(\.fields["apns-id"]) == second.map(\.fields["apns-id"]))
      try await eventually("it is sent") { try server.deliveries(of: id) == ["apns sent"] }
    }
  }

  private static func listen(
    to server: RunningServer, for user: String, count: Int
  ) async throws -> [PushEvent] {
    var events: [PushEvent] = []
    for try await event in server.client(user).events(after: "0") {
      events.append(event)
      if events.count == count { break }
    }
    return events
  }

  /// Creates them all, and tells `progress` how many have been acknowledged.
  private static func createAll(
    on server: RunningServer, for user: String,
    progress: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> [Int: String] {
    let ledger = Ledger()
    try await withThrowingTaskGroup { group in
      for client in 0..<clients {
        group.addTask {
          for number in 0..<each {
            let message = "\(client)/\(number)"
            let id = try await create(message, on: server, for: user)
            try await progress(await ledger.note(id, message))
          }
        }
      }
      try await group.waitForAll()
    }
    return await ledger.acknowledged
  }

  /// A careful back end: it repeats what was not acknowledged, under the same key.
  private static func create(
    _ message: String, on server: RunningServer, for user: String
  ) async throws -> Int {
    var notification = NewNotification(
      NotificationMessage(message), richType: "img",
      payload: message.hasSuffix("3") ? "beach.jpg" : "logo.png",
      to: .users([user]))
    notification.idempotencyKey = message
    return try await Cluster.patiently { [notification] in
      try await server.client("backend").create(notification).id
    }
  }

  private static func expect(
    _ events: [PushEvent], equals acknowledged: [Int: String], on server: RunningServer
  ) async throws {
    let total = clients * each
    #expect(acknowledged.count == total)
    let ids = events.compactMap(\.push.id)
    #expect(ids == ids.sorted())
    #expect(Set(ids) == Set(acknowledged.keys))
    let misnamed = events.filter { $0.push.message.text != $0.push.id.flatMap { acknowledged[$0] } }
    #expect(misnamed.isEmpty)
    let positions = events.compactMap { Int($0.id) }
    #expect(positions == positions.sorted() && Set(positions).count == total)
    let samples = try ["logo.png", "beach.jpg"].map { try Package.bytes("assets/img/\($0)") }
    var changed: [Int] = []
    for (id, message) in acknowledged {
      let media = try await server.client("alice").media(id)
      if [UInt8](media.bytes) != samples[message.hasSuffix("3") ? 1 : 0] { changed.append(id) }
    }
    #expect(changed.isEmpty)
  }
}

/// What the server has acknowledged.
private actor Ledger {
  private(set) var acknowledged: [Int: String] = [:]

  /// Notes an id with its message; gives how many there are.
  func note(_ id: Int, _ message: String) -> Int {
    acknowledged[id] = message
    return acknowledged.count
  }
}
