import Foundation
import StandIns
import Synchronization
import Testing
import Waiting

@testable import S3

/// An object store that is away for a second; no test waits for that.
@Suite(.timeLimit(.minutes(1))) struct AwayTests {
  /// When requests came.
  private final class Requests: Sendable {
    private let times = Mutex<[ContinuousClock.Instant]>([])
    /// The times between them.
    var pauses: [Duration] { times.withLock { zip($0.dropFirst(), $0).map { $0 - $1 } } }
    func add(_ time: ContinuousClock.Instant) { times.withLock { $0.append(time) } }
  }

  private static func client(_ store: ObjectStandIn, _ clock: ManualClock) throws -> S3Client {
    S3Client(
      try S3Bucket(store.url), S3Credentials(accessKey: "rich:push", secret: "hidden"),
      deadline: .seconds(20), clock: clock)
  }

  private static let faults: [ObjectStandIn.Fault] = [
    .status(503, "SlowDown"), .status(500, "InternalError"), .lostAnswer,
  ]

  @Test(arguments: faults.indices)
  func `is asked at most six times, and then has what was sent`(fault: Int) async throws {
    let (store, clock, requests) = (try ObjectStandIn(), ManualClock(), Requests())
    let start = clock.now
    store.fail { _, _ in
      requests.add(clock.now)
      return clock.now - start < .seconds(1) ? Self.faults[fault] : nil
    }
    try await clock.withoutWaiting {
      try await Self.client(store, clock).put("a/b", bytes: [1, 2, 3])
    }
    #expect(store.bytes("a/b") == Data([1, 2, 3]))
    #expect((3...6).contains(store.received.count), "\(requests.pauses)")
    // From half a tenth of a second to a tenth, and then twice as long each time.
    for (number, pause) in requests.pauses.enumerated() {
      let longest = Duration.milliseconds(100) * (1 << number)
      #expect(pause <= longest && pause >= longest / 2)
    }
  }

  @Test func `a request that was cancelled is not sent again`() async throws {
    let (asked, asking) = AsyncStream.makeStream(of: Void.self)
    let store = try ObjectStandIn()
    store.fail { _, _ in
      asking.yield()
      return .status(503, "SlowDown")
    }
    let client = try Self.client(store, ManualClock())
    let request = Task { try await client.head("a") }
    for await _ in asked { break }
    request.cancel()
    let error = await #expect(throws: S3Error.self) { try await request.value }
    #expect(error?.code == .away && store.received.count <= 2)
  }
}
