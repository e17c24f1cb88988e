import Foundation
package import HTTP
import Media
package import Origin
package import Primitives
package import Store
import Synchronization
import Waiting

/// The whole application in this process, with folders of its own and a user of each role.
///
///     try await TestServer.test { server in
///       let answer = try await server.execute("GET", "/api/notifications", as: "device")
///       #expect(answer.status == 200)
///     }
package struct TestServer: Sendable {
  package let origin: Origin
  package let configuration: OriginConfiguration
  /// The server's store, opened a second time.
  package let store: Store
  package let scratch: Scratch
  package let log: LogLines
  /// What an event loop caches, by target and credentials.
  private let cached = Cached()

  private final class Cached: Sendable {
    private let responses = Mutex<[[String]: any CachedResponse]>([:])

    func withLock<R>(_ body: (inout sending [[String]: any CachedResponse]) -> sending R) -> R {
      responses.withLock(body)
    }
  }

  /// Everybody's password.
  package static let password = "a-good-secret"

  /// Runs a test with a server, and stops it afterwards.
  ///
  /// The users are named as their roles: `device`, `publisher`, `admin`.
  ///
  /// - Parameters:
  ///   - clock: The clock of the server's pauses and deadlines.
  ///   - prepare: Installs plugins, writes files, and changes the configuration before the start.
  ///   - body: The test.
  /// - Throws: What the start, or the test, throws.
  package static func test(
    clock: any SteadyClock = ContinuousClock(),
    prepare: (inout OriginConfiguration, Scratch) throws -> Void = { _, _ in },
    _ body: (TestServer) async throws -> Void
  ) async throws {
    let server = try await TestServer(clock, prepare)
    do { try await body(server) } catch {
      await server.origin.stop()
      throw error
    }
    await server.origin.stop()
  }

  private init(
    _ clock: any SteadyClock, _ prepare: (inout OriginConfiguration, Scratch) throws -> Void
  ) async throws {
    scratch = try Scratch()
    log = LogLines()
    var configuration = try OriginConfiguration()
    configuration.port = 0
    configuration.data = scratch.path + "/data"
    configuration.assets = scratch.path + "/assets"
    configuration.plugins = scratch.path + "/plugins"
    configuration.programs = Scratch.programs
    for folder in ["assets", "plugins"] { try scratch.makeFolder(folder) }
    try prepare(&configuration, scratch)
    self.configuration = configuration
    store = try Store(
      folder: configuration.data, database: configuration.database, access: .sharedOrNew)
    // Another server with the same database has added them.
    for role in Role.allCases where try await store.accounts.user(named: role.rawValue) == nil {
      try await store.accounts.addUser(role.rawValue, hash: Self.hash, role: role)
    }
    origin = try await Origin(configuration, clock: clock, log: log.log)
  }

  /// Hashed once: a hash takes as long as many requests.
  private static let hash = PasswordHash.make(password) ?? ""

  /// The ID of a user.
  package func id(of user: String) async throws -> UserID {
    guard let id = try await store.accounts.user(named: user)?.id else { throw Unmet("no \(user)") }
    return id
  }

  /// Adds a user with everybody's password.
  package func addUser(_ name: String, _ role: Role) async throws {
    try await store.accounts.addUser(name, hash: Self.hash, role: role)
  }

  /// The value of an `Authorization` field.
  package static func authorization(_ user: String, password: String = password) -> String {
    "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }

  /// Opens a connection to the server's port.
  package func connect(from address: UInt32 = 1) -> RawConnection {
    RawConnection(port: origin.port, from: address)
  }

  /// Sends a request the way the server's event loop does, without a socket.
  ///
  /// What the connection does is left out: preconditions, ranges, limits of bodies, framing.
  package func execute(
    _ method: String, _ target: String, as user: String? = nil, token: String? = nil,
    fields: Fields = Fields(), body: String = "", peer: String = "127.0.0.1",
    isSecure: Bool = false, isPeerForwarded: Bool = false
  ) async throws -> TestResponse {
    var fields = fields
    if let user { fields["Authorization"] = Self.authorization(user) }
    if let token { fields["Authorization"] = "Bearer " + token }
    // As the connection does: any other field, such as the device's, has to be looked at.
    let isSimple = method == "GET" && fields.items.allSatisfy { $0.name == "Authorization" }
    let key = isSimple ? [target, fields["Authorization"] ?? ""] : nil
    let earlier = key.flatMap { key in cached.withLock { $0[key] } }
      .flatMap { $0.isValid(at: Int(Date().timeIntervalSince1970)) ? $0 : nil }
    if let content = earlier?.content {
      earlier?.recordUse()
      return try TestResponse(.content(content), isCached: true)
    }
    let framing: Request.Body = body.isEmpty ? .none : .sized(body.utf8.count)
    let request = try Request(
      method, target, fields: fields, peer: peer, isSecure: isSecure,
      isPeerForwarded: isPeerForwarded, body: framing)
    let responder = origin.responder
    let plan =
      earlier.map { responder.plan(for: request, like: $0) } ?? responder.plan(for: request)
    let response = try await run(plan, body)
    if let key, let new = response.cached { cached.withLock { $0[key] = new } }
    return try TestResponse(response)
  }

  private func run(_ plan: ResponsePlan, _ body: String) async throws -> Response {
    switch plan {
    case .deferred(_, let work): return try await run(work(), body)
    case .immediate(let response): return response
    case .asynchronous(_, let work): return await work()
    case .collectingBody(let limit, _, _, let work):
      if body.utf8.count > limit { return .problem(413, "") }
      return await work(Array(body.utf8))
    case .savingBody(let limit, let folder, _, _, _, let work):
      if body.utf8.count > limit { return .problem(413, "") }
      let path = folder + "/upload-" + UUID().uuidString
      try Data(body.utf8).write(to: URL(filePath: path))
      return await work(SavedBody(path: path, size: body.utf8.count))
    }
  }
}

/// What a request got.
package struct TestResponse: Sendable {
  package let status: Int
  package let fields: Fields
  package let bytes: [UInt8]
  /// The stored file that is sent, if any.
  package let content: Content?
  /// The code of a problem that names one.
  package let code: String?
  /// What a problem says of each member of the body.
  package let errors: [ProblemError]
  /// The sentence of a problem.
  package let detail: String?
  /// The stream of events, if it is one.
  package let stream: TestStream?
  /// Whether the request was answered by what an earlier one found.
  package let isCached: Bool

  /// Reads the body that a response names.
  package init(_ response: Response, isCached: Bool = false) throws {
    (status, fields, self.isCached) = (response.status, response.fields, isCached)
    var (bytes, content, stream): ([UInt8], Content?, TestStream?) = ([], nil, nil)
    var problem: (code: String?, detail: String?)
    var errors: [ProblemError] = []
    switch response.body {
    case .empty: break
    case .problem(let code, let detail, let all): (problem, errors) = ((code, detail), all)
    case .bytes(let all): bytes = all
    case .content(let file):
      content = file
      bytes = [UInt8](try Data(contentsOf: URL(filePath: file.path)))
    case .events(let source): stream = TestStream(source)
    }
    (self.bytes, self.content, self.stream) = (bytes, content, stream)
    (code, detail) = problem
    self.errors = errors
  }

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The members of a JSON object; none for anything else.
  package var json: [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
  }

  /// The objects in an array of the JSON object.
  package func objects(_ member: String) -> [[String: Any]] {
    json[member] as? [[String: Any]] ?? []
  }
}

/// One client of a stream of events.
package final class TestStream: Sendable {
  private let sink: EventSink
  private let signal = WakeSignal()
  private let unread = Mutex<[Event]>([])

  /// One event, as the client reads it.
  package struct Event: Sendable, Equatable {
    package var id = ""
    package var name = ""
    package var data = ""

    /// An event with an ID and no data.
    package init(id: String = "") { self.id = id }
  }

  init(_ source: any EventSource) {
    sink = EventSink(limit: 1 << 20, heartbeat: 1 << 30, isChunked: true) { [signal] in
      signal.send()
    }
    source.open(sink)
  }

  /// How much was sent that the client has not read.
  package var unsentBytes: Int { sink.unsentBytes }

  /// The next events, which were sent together; nil at the end of the stream.
  ///
  /// - Throws: ``Unmet`` if the stream is silent for 30 seconds.
  package func next() async throws -> [Event]? {
    try await nextBytes().map { Self.events(in: String(decoding: $0, as: UTF8.self)) }
  }

  /// The next bytes, whatever they are; nil at the end of the stream.
  ///
  /// - Throws: ``Unmet`` if the stream is silent for 30 seconds.
  package func nextBytes() async throws -> [UInt8]? {
    let deadline = ContinuousClock.now + .seconds(30)
    while let bytes = sink.next() {
      if !bytes.isEmpty { return bytes }
      guard ContinuousClock.now < deadline else { throw Unmet("the stream is silent") }
      await signal.wait { try await Task.sleep(until: deadline, clock: .continuous) }
    }
    return nil
  }

  /// The next event with data, one at a time; not to be mixed with ``next()``.
  package func nextEvent() async throws -> Event? {
    while true {
      if let event = unread.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return event }
      guard let events = try await next() else { return nil }
      unread.withLock { $0 = events.filter { !$0.data.isEmpty } }
    }
  }

  /// Closes the client's side.
  package func close() { sink.finish() }

  private static func events(in text: String) -> [Event] {
    text.components(separatedBy: "\n\n").filter { !$0.isEmpty }.map { block in
      var event = Event()
      for line in block.split(separator: "\n") {
        let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
        let value = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
        switch parts.first {
        case "id": event.id = value
        case "event": event.name = value
        case "data": event.data = value
        default: break
        }
      }
      return event
    }
  }
}
