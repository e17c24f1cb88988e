import Foundation
import Primitives
import StandIns
import Synchronization
import Testing

@testable import Push

/// Several Web Push services, each with a lane of its own.
@Suite(.timeLimit(.minutes(2))) struct WebPushLanesTests {
  /// A queue with the jobs of several lanes.
  private final class Queues: PushQueue {
    private let queues: [String: MemoryOutbox]

    init(_ names: [String]) {
      queues = Dictionary(
        uniqueKeysWithValues: names.map { ($0, MemoryOutbox(clock: SystemClock())) })
    }

    subscript(_ origin: String) -> MemoryOutbox {
      get throws { try #require(queues[WebPushLane.name(of: origin)]) }
    }

    func settleAndLease(
      _ settlements: [Settlement], lane: String, limit: Int, now: Date, until: Date
    ) async throws -> [PushJob] {
      try await queues[lane]?.settleAndLease(
        settlements, lane: lane, limit: limit, now: now, until: until) ?? []
    }

    func nextDue(lane: String) async throws -> Date? { try await queues[lane]?.nextDue(lane: lane) }
  }

  /// How long a service may take for its answer.
  private static let timeout = Duration.seconds(5)

  private func lanes(
    _ services: [StandIn], _ queues: Queues, names: [String]
  ) throws -> WebPushLanes {
    // One file with the authorities of all.
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try services.map { try String(contentsOfFile: $0.certificates, encoding: .utf8) }.joined()
      .write(toFile: file, atomically: true, encoding: .utf8)
    let sender = try WebPushSender(
      key: .sample,
      settings: WebPushSettings(
        contact: "mailto:ops@example.com", allowed: services.map { "localhost:\($0.port)" }),
      trustAnchor: file, timeout: Self.timeout)
    return WebPushLanes(sender: sender, outbox: queues, waiting: { names }, log: .silent)
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
    #expect((1...4).contains(services503.count))
    let silent = try #require(
      try services[0].tell(["do": "requests"])["requests"] as? [[String: Any]])
    // On a busy machine the first of them may have timed out, and others followed.
    let rounds = 1 + Int(start.duration(to: .now) / Self.timeout)
    #expect((1...(5 * rounds)).contains(silent.count))
    #expect(lanes.services.known == 4)
    // The hanging one ends with its timeout; the rest of its jobs stay queued.
    await lanes.stop()
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

extension Settlement {
  fileprivate var isDelivered: Bool { if case .delivered = outcome { true } else { false } }
}
