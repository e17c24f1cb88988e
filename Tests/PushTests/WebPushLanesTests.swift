import Foundation
import Primitives
import StandIns
import Synchronization
import Testing
import Waiting

@testable import Push

/// Several Web Push services, each with a lane of its own.
@Suite(.timeLimit(.minutes(2))) struct WebPushLanesTests {
  /// A queue with the jobs of several lanes.
  private final class Queues: PushQueue {
    private let queues: [String: MemoryOutbox]

    init(_ names: [String]) {
      queues = Dictionary(
        uniqueKeysWithValues: names.map { ($0, MemoryOutbox()) })
    }

    subscript(_ origin: String) -> MemoryOutbox {
      get throws { try #require(queues[WebPushLane.name(of: origin)]) }
    }

    func settleAndLease(
      _ settlements: [Settlement], lane: PushLane, limit: Int, now: Date, until: Date
    ) async throws -> PushLease {
      try await queues[lane.name]?.settleAndLease(
        settlements, lane: lane, limit: limit, now: now, until: until) ?? PushLease(jobs: [])
    }

    func begin(_ lane: PushLane) {}

    func nextDue(lane: String) async throws -> Date? { try await queues[lane]?.nextDue(lane: lane) }
  }

  /// How long a service may take for its answer.
  private static let timeout = Duration.seconds(5)

  private func lanes(
    _ services: [StandIn], _ queues: Queues, names: [String]
  ) throws -> WebPushLanes {
    WebPushLanes(
      sender: try sender(services), outbox: queues, waiting: { names }, clear: {},
      explain: { _, _ in },
      log: .silent)
  }

  private func sender(_ services: [StandIn], transfersPerUser: Int = 128) throws -> WebPushSender {
    // One file with the authorities of all.
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try services.map { try String(contentsOfFile: $0.certificates, encoding: .utf8) }.joined()
      .write(toFile: file, atomically: true, encoding: .utf8)
    return try WebPushSender(
      key: .sample,
      settings: WebPushSettings(
        contact: "mailto:ops@example.com", allowed: services.map { "localhost:\($0.port)" }),
      trustAnchor: file, timeout: Self.timeout, resolver: HostResolver(),
      transfersPerUser: transfersPerUser)
  }

  @Test func `a service that hangs or refuses holds up no other`() async throws {
    let services = try (0..<4).map { _ in try StandIn("webpush") }
    let queues = Queues(services.map { WebPushLane.name(of: $0.url) })
    try services[0].answer(["*": [["act": "silence"]]])
    try services[1].answer(["*": [["status": 503, "headers": ["Retry-After": "3600"]]]])
    for (index, service) in services.enumerated() {
      let target = try service.subscribe("a")
      for number in 0..<300 { try queues[service.url].add(.web(target, index * 1000 + number)) }
    }
    let lanes = try lanes(
      services, queues, names: services.map { WebPushLane.name(of: $0.url) })
    let start = ContinuousClock.now
    lanes.start()
    for service in services[2...] { try await queues[service.url].delivered(300) }
    let services503 = try #require(
      try services[1].tell(["do": "requests"])["requests"] as? [[String: Any]])
    // Those that were under way together, and then until five in a row were refused.
    #expect((1...8).contains(services503.count))
    let silent = try #require(
      try services[0].tell(["do": "requests"])["requests"] as? [[String: Any]])
    // On a busy machine the first of them may have timed out, and others followed.
    let rounds = 1 + Int(start.duration(to: .now) / Self.timeout)
    #expect((1...(5 * rounds)).contains(silent.count))
    #expect(lanes.services.known == 4)
    // The hanging one hangs up; the rest of its jobs stay queued.
    async let stopped: Void = lanes.stop()
    try services[0].tell(["do": "reset"])
    await stopped
    #expect(lanes.status.delivered == 600)
    #expect(try queues[services[0].url].history.allSatisfy { !$0.isDelivered })
  }

  @Test func `sends to a service named in a wake-up, and only to Web Push services`() async throws {
    let service = try StandIn("webpush")
    let name = WebPushLane.name(of: service.url)
    let queues = Queues([name])
    let lanes = try lanes([service], queues, names: [])
    lanes.start()
    try queues[service.url].add(.web(try service.subscribe("a")))
    lanes.wake([name, "apns", "webhook"])
    try await queues[service.url].settled(1)
    #expect(lanes.services.known == 1)
    await lanes.stop()
  }
}

// MARK: - More services than lanes

extension WebPushLanesTests {
  /// What operators and publishers are told.
  private final class Told: Sendable {
    private let state = Mutex(
      (log: [String](), reasons: [String: String](), busy: [String](), gone: Set<String>()))

    var log: Log { Log { entry in self.state.withLock { $0.log.append(entry.text) } } }
    var lines: [String] { state.withLock { $0.log } }
    var reasons: [String: String] { state.withLock { $0.reasons } }
    /// The lanes with jobs, as the outbox tells.
    var busy: [String] {
      get { state.withLock { $0.busy } }
      set { state.withLock { $0.busy = newValue } }
    }

    /// Has only jobs of removed devices in a lane.
    func lose(_ lane: String) { _ = state.withLock { $0.gone.insert(lane) } }

    func clear() {
      state.withLock { state in
        state.busy.removeAll { state.gone.contains($0) }
      }
    }

    func explain(_ reason: String, _ lanes: [String]) {
      state.withLock { state in for lane in lanes { state.reasons[lane] = reason } }
    }
  }

  private func lanes(
    _ queues: Queues, _ sender: WebPushSender, limit: Int, _ told: Told
  ) -> WebPushLanes {
    WebPushLanes(
      sender: sender, outbox: queues, limit: limit, waiting: { told.busy }, clear: { told.clear() },
      explain: { told.explain($0, $1) }, log: told.log)
  }

  @Test func `names that anybody tells make no lanes, but jobs do`() async throws {
    let service = try StandIn("webpush")
    let name = WebPushLane.name(of: service.url)
    let forged = (0..<500).map { "webpush:https://f\($0).example" }
    let queues = Queues([name] + forged)
    let lanes = lanes(queues, try sender([service]), limit: 10_000, Told())
    lanes.start()
    try queues[service.url].add(.web(try service.subscribe("a")))
    lanes.wake(Set(forged + [name]))
    try await queues[service.url].settled(1)
    try await eventually("all names were looked at") { !lanes.isOpening }
    #expect(lanes.services.known == 1)
    await lanes.stop()
  }

  @Test func `a lane without pushes goes when another is needed`() async throws {
    let services = try (0..<3).map { _ in try StandIn("webpush") }
    let names = services.map { WebPushLane.name(of: $0.url) }
    let (queues, told) = (Queues(names), Told())
    let lanes = lanes(queues, try sender(services), limit: 2, told)
    lanes.start()
    for (service, name) in zip(services, names) {
      try queues[service.url].add(.web(try service.subscribe("a")))
      lanes.wake([name])
      try await within { try await queues[service.url].settled(1) }
      try await eventually("nothing is under way") { lanes.status.inFlight == 0 }
      #expect(lanes.services.known <= 2)
    }
    #expect(lanes.status.delivered == 3)
    #expect(told.lines.isEmpty && told.reasons.isEmpty)
    // The first has lost its lane, and gets another.
    try queues[services[0].url].add(.web(try services[0].subscribe("b")))
    lanes.wake([names[0]])
    try await within { try await queues[services[0].url].settled(2) }
    await lanes.stop()
  }

  @Test func `a lane whose pushes are for removed devices goes when another is needed`()
    async throws
  {
    let services = try (0..<2).map { _ in try StandIn("webpush") }
    let names = services.map { WebPushLane.name(of: $0.url) }
    let (queues, told) = (Queues(names), Told())
    let lanes = lanes(queues, try sender(services), limit: 1, told)
    try services[0].answer(["*": [["status": 503, "headers": ["Retry-After": "86400"]]]])
    told.busy = [names[0]]
    try queues[services[0].url].add(.web(try services[0].subscribe("a")))
    lanes.start()
    try await within { try await queues[services[0].url].settled(1) }
    try await eventually("nothing is under way") { lanes.status.inFlight == 0 }
    told.lose(names[0])
    try queues[services[1].url].add(.web(try services[1].subscribe("a")))
    told.busy.append(names[1])
    lanes.wake([names[1]])
    try await within { try await queues[services[1].url].settled(1) }
    #expect(lanes.services.known == 1 && lanes.services.refused == 0)
    await lanes.stop()
  }

  @Test func `a service without a lane is told in the log, the metrics and its receipts`()
    async throws
  {
    let services = try (0..<2).map { _ in try StandIn("webpush") }
    let names = services.map { WebPushLane.name(of: $0.url) }
    let (queues, told) = (Queues(names), Told())
    try services[0].answer(["*": [["status": 503, "headers": ["Retry-After": "3600"]]]])
    let lanes = lanes(queues, try sender(services), limit: 1, told)
    told.busy = [names[0]]
    try queues[services[0].url].add(.web(try services[0].subscribe("a")))
    lanes.start()
    try await within { try await queues[services[0].url].settled(1) }
    try await eventually("nothing is under way") { lanes.status.inFlight == 0 }
    told.busy = names
    try queues[services[1].url].add(.web(try services[1].subscribe("a")))
    lanes.wake([names[1]])
    try await eventually("it is told") { told.reasons[names[1]] != nil }
    #expect(told.reasons.keys.sorted() == [names[1]])
    #expect(told.reasons[names[1]]?.contains("no lane for its push service") == true)
    #expect(lanes.services.known == 1 && lanes.services.refused == 1)
    #expect(told.lines.count == 1 && told.lines[0].contains("all 1 lanes are in use"))
    lanes.wake([names[1]])
    try await eventually("it is looked at") { !lanes.isOpening }
    #expect(told.lines.count == 1, "at most once a minute")
    // Once the other has no pushes, a review gives it the lane.
    told.busy = [names[1]]
    lanes.wake()
    try await within { try await queues[services[1].url].settled(1) }
    #expect(lanes.services.refused == 0)
    await lanes.stop()
  }

  @Test func `one user's silent services hold up no push of another user`() async throws {
    let services = try (0..<3).map { _ in try StandIn("webpush") }
    let queues = Queues(services.map { WebPushLane.name(of: $0.url) })
    for service in services[..<2] { try service.answer(["*": [["act": "silence"]]]) }
    // Also at a service that both use.
    for service in services {
      let target = try service.subscribe("evil")
      for number in 0..<20 { try queues[service.url].add(.web(target, number, user: 1)) }
    }
    let told = Told()
    let lanes = lanes(queues, try sender(services, transfersPerUser: 2), limit: 100, told)
    told.busy = services.map { WebPushLane.name(of: $0.url) }
    lanes.start()
    let start = ContinuousClock.now
    var silent = 0
    func count() throws -> Int {
      for service in services[..<2] { silent += try service.requestCount() }
      return silent
    }
    try await eventually("the user has a transfer that is not answered") { try count() > 0 }
    let target = try services[2].subscribe("good")
    let pushes = try (0..<20).map { number in
      try queues[services[2].url].add(.web(target, 100 + number, user: 2))
    }
    lanes.wake([WebPushLane.name(of: services[2].url)])
    try await within {
      try await eventually("they are delivered") {
        let outcomes = try queues[services[2].url].outcomes
        return pushes.allSatisfy { if case .delivered = outcomes[$0] { true } else { false } }
      }
    }
    let rounds = 1 + Int(start.duration(to: .now) / Self.timeout)
    #expect(try count() <= 2 * rounds)
    #expect(
      try queues[services[2].url].history.contains {
        if case .released(_, let reason) = $0.outcome {
          reason.contains("too many pushes under way")
        } else {
          false
        }
      })
    async let stopped: Void = lanes.stop()
    for service in services[..<2] { try service.tell(["do": "reset"]) }
    await stopped
  }
}

extension StandIn {
  /// The requests since the last question.
  fileprivate func requestCount() throws -> Int {
    (try tell(["do": "requests"])["requests"] as? [[String: Any]])?.count ?? 0
  }
}

extension Settlement {
  fileprivate var isDelivered: Bool { if case .delivered = outcome { true } else { false } }
}
