import Foundation
import HTTP
import Primitives
import RichPushAPI
import Store
import Synchronization
import TestSupport
import Testing
import Waiting

@testable import Origin

/// A user who takes as much as one can, while others are served: a case for each row of the table in
/// docs/SECURITY.md that needs no push service.
@Suite(.timeLimit(.minutes(5))) struct QuotaTests {
  /// What a user takes too much of.
  enum Resource: CaseIterable {
    case devices, services, notifications, texts, uploads, bodies, deviceStreams, userStreams
    case exports, dryRuns, renditions

    /// How often a user can take it; a request for more is refused.
    var quota: Int {
      switch self {
      case .devices: UserQuota.devices
      case .services: UserQuota.webPushServices
      case .notifications, .texts: UserQuota.ownNotifications
      case .uploads: UserQuota.uploads
      case .bodies: UserQuota.bodies
      case .deviceStreams: UserQuota.streamsPerDevice
      case .userStreams: UserQuota.streamsPerRegistration * UserQuota.devices
      case .exports: UserQuota.exports
      case .dryRuns: 1 + UserQuota.waitingDryRuns
      // One runs; the plugin's other process is for other users.
      case .renditions: 1 + UserQuota.waitingRenditions
      }
    }

    var isStored: Bool { [.devices, .services, .notifications, .texts].contains(self) }
    /// Whether the response comes when the plugin has responded.
    var waits: Bool { [.dryRuns, .renditions].contains(self) }
    var refusal: Int { [.devices, .services].contains(self) ? 409 : 429 }
  }

  @Test(arguments: Resource.allCases)
  func `a user who takes all that one can takes nothing from others`(
    _ resource: Resource
  ) async throws {
    let files = try Scratch()
    let gate = Gate(in: files)
    let slow = """
      [ "$RICH_PAYLOAD" = good ] || [ -e '\(files.path)/open' ] || \(gate.command)
      printf 'Content-Type: text/plain\\n\\nx'
      """
    try await TestServer.test(prepare: { configuration, scratch in
      try configuration.usePush(
        "embedded,webpush", environment: [:], contact: "mailto:ops@example.com")
      configuration.sandbox = "off"
      try scratch.installNote()
      try scratch.installPlugin("slow", manifest: #"{"workers":{"max":2}}"#, slow)
    }) { server in
      let attack = try await Attack(on: server)
      let refused =
        resource.waits
        ? try await attack.takeWaiting(resource) : try await attack.takeAll(resource)
      #expect(refused.status == resource.refusal, "\(refused.detail ?? refused.text)")
      if refused.status == 429 { #expect(Int(refused.fields["Retry-After"] ?? "") ?? 0 > 0) }
      try await expectService(of: server)
      if resource.isStored { return }
      try files.write("", to: "open")
      attack.end()
      try await eventually("all requests have ended") {
        if gate.isWaitedAt, attack.isWaiting { try await gate.open() }
        return !attack.isWaiting
      }
      try await eventually("what was given back can be taken again") {
        try await attack.take(resource, .max).status != resource.refusal
      }
      attack.end()
    }
  }

  /// Another user gets a push, fetches it, uploads a file, tries a notification and opens a stream.
  private func expectService(of server: TestServer) async throws {
    try await server.addUser("reader", .device)
    try await server.addUser("writer", .publisher)
    func ask(
      _ method: String, _ path: String, as user: String, _ body: String = ""
    ) async throws -> TestResponse {
      try await server.execute(method, path, as: user, body: body)
    }
    let stream = try #require(try await ask("GET", "/api/push/stream", as: "reader").stream)
    _ = try await server.register("CC01", as: "reader")
    let push = TestServer.notification(to: ["reader"])
    let id = try #require(
      try await ask("POST", "/api/notifications", as: "writer", push).json["id"] as? Int)
    #expect(try await stream.nextEvent()?.data.contains("\"\(id)\"") == true)
    for (method, path, user, body) in [
      ("GET", "/api/notifications/\(id)", "reader", ""),
      ("GET", "/api/notifications/\(id)?view=new", "reader", ""),
      ("PUT", "/api/assets/note/good", "writer", "x"),
      ("POST", "/api/notifications?dry-run", "writer", push),
      ("POST", "/api/notifications", "reader", push),
      ("POST", "/api/notifications", "reader", Attack.slow("good", for: "reader")),
    ] {
      let answer = try await ask(method, path, as: user, body)
      #expect([200, 201].contains(answer.status), "\(method) \(path): \(answer.detail ?? "")")
    }
    stream.close()
  }
}

/// One user, who keeps all that the server gives.
private final class Attack: Sendable {
  private struct State {
    var streams: [TestStream] = []
    var connections: [RawConnection] = []
    /// Requests that have no response yet.
    var waiting = 0
    var refused: TestResponse?
  }

  private let server: TestServer
  private let token: String
  private let state = Mutex(State())

  init(on server: TestServer) async throws {
    self.server = server
    let id = try await server.register("EE", as: "publisher")
    let answer = try await server.execute("POST", "/api/register/\(id)/token", as: "publisher")
    token = try #require(answer.json["token"] as? String)
  }

  var isWaiting: Bool { state.withLock { $0.waiting > 0 } }

  /// Takes a resource once.
  func take(_ resource: QuotaTests.Resource, _ number: Int) async throws -> TestResponse {
    switch resource {
    case .devices:
      return try await server.execute(
        "POST", "/api/register?handle=" + String(format: "AA%04X", number & 0xFFFF), as: "device")
    case .services:
      return try await server.subscribe(
        "s\(number)", at: "https://evil.example:\(1000 + number)/a", as: "device")
    case .notifications:
      return try await server.execute(
        "POST", "/api/notifications", as: "device", body: TestServer.notification())
    case .texts:
      return try await server.execute(
        "POST", "/api/notifications?pns=apns&to_tag=device", as: "device", body: #""text""#)
    case .uploads: return try await begin("PUT /api/assets/note/evil", as: "publisher")
    case .bodies:
      // A GET may have one as well, which is read and discarded.
      let method = number.isMultiple(of: 2) ? "POST" : "GET"
      return try await begin("\(method) /api/notifications", as: "device")
    case .deviceStreams, .userStreams:
      let token = resource == .deviceStreams ? token : nil
      let answer = try await server.execute(
        "GET", "/api/push/stream", as: token == nil ? "publisher" : nil, token: token)
      if let stream = answer.stream { state.withLock { $0.streams.append(stream) } }
      return answer
    case .exports:
      let answer = try await server.execute(
        "GET", "/api/notifications?sent", as: "publisher", fields: ["Accept": "text/csv"])
      if let stream = answer.stream { state.withLock { $0.streams.append(stream) } }
      return answer
    case .dryRuns:
      return try await server.execute(
        "POST", "/api/notifications?dry-run", as: "publisher", body: Self.slow("p", for: "device"))
    case .renditions:
      return try await server.execute(
        "POST", "/api/notifications", as: "device",
        body: Self.slow("payload \(number)", for: "device"))
    }
  }

  /// A notification whose plugin takes as long as the test wants, unless its payload is `good`.
  static func slow(_ payload: String, for user: String) -> String {
    #"{"message":"m","richType":"slow","payload":"\#(payload)","to":["username:\#(user)"]}"#
  }

  /// Sends the head of a request whose body does not follow.
  private func begin(_ request: String, as user: String) async throws -> TestResponse {
    let connection = server.connect()
    state.withLock { $0.connections.append(connection) }
    connection.send(
      "\(request) HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n"
        + "Authorization: \(TestServer.authorization(user))\r\n\r\n")
    let answer = await connection.answer()
    var response = Response.bytes(answer.status, Array(answer.text.utf8), type: "text/plain")
    for (name, value) in answer.fields { response.fields[name] = value }
    return try TestResponse(response)
  }

  /// Takes as much as there is; returns what one more gets.
  func takeAll(_ resource: QuotaTests.Resource) async throws -> TestResponse {
    for number in 0..<resource.quota {
      let answer = try await take(resource, number)
      #expect([100, 200, 201].contains(answer.status), "\(number): \(answer.detail ?? "")")
    }
    return try await take(resource, resource.quota)
  }

  /// The same for what is taken while the plugin runs: returns the first refusal.
  func takeWaiting(_ resource: QuotaTests.Resource) async throws -> TestResponse {
    for number in 0...resource.quota {
      state.withLock { $0.waiting += 1 }
      Task { [self] in
        let answer = try? await take(resource, number)
        state.withLock { state in
          state.waiting -= 1
          if answer?.status == resource.refusal { state.refused = answer }
        }
      }
    }
    try await eventually("one is refused") { state.withLock { $0.refused != nil } }
    #expect(state.withLock { $0.waiting } == resource.quota, "only one")
    return try #require(state.withLock { $0.refused })
  }

  /// Closes its streams and connections.
  func end() {
    let (streams, connections) = state.withLock { ($0.streams, $0.connections) }
    for stream in streams { stream.close() }
    for connection in connections { connection.end() }
    state.withLock { ($0.streams, $0.connections) = ([], []) }
  }
}
