import Foundation
import StandIns
import Synchronization
import Testing

@testable import S3

/// An object store that is away for a second; no test waits for that.
@Suite(.timeLimit(.minutes(1))) struct AwayTests {
  /// Pauses that take no time, of which the sum is the time that has passed.
  private final class Pauses: Sendable {
    private let pauses = Mutex<[Duration]>([])
    var all: [Duration] { pauses.withLock { $0 } }
    var sum: Duration { all.reduce(.zero, +) }
    func add(_ pause: Duration) { pauses.withLock { $0.append(pause) } }
  }

  private static func client(_ store: ObjectStandIn, _ pauses: Pauses) throws -> S3Client {
    S3Client(
      try S3Bucket(store.url), S3Credentials(accessKey: "rich:push", secret: "hidden"),
      deadline: .seconds(20), pause: { pauses.add($0) })
  }

  /// Is away until the pauses have taken a second.
  private static func store(
    _ pauses: Pauses, _ fault: ObjectStandIn.Fault
  ) throws -> ObjectStandIn {
    let store = try ObjectStandIn()
    store.fail { _, _ in pauses.sum < .seconds(1) ? fault : nil }
    return store
  }

  private static let faults: [ObjectStandIn.Fault] = [
    .status(503, "SlowDown"), .status(500, "InternalError"), .lostAnswer,
  ]

  @Test(arguments: faults.indices)
  func `is asked at most six times, and then has what was sent`(fault: Int) async throws {
    let pauses = Pauses()
    let store = try Self.store(pauses, Self.faults[fault])
    try await Self.client(store, pauses).put("a/b", bytes: [1, 2, 3])
    #expect(store.bytes("a/b") == Data([1, 2, 3]))
    #expect((3...6).contains(store.received.count), "\(pauses.all)")
    // From half a tenth of a second to a tenth, and then twice as long each time.
    for (number, pause) in pauses.all.enumerated() {
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
    // Its pauses end when the task is cancelled, as real ones do.
    let client = S3Client(
      try S3Bucket(store.url), S3Credentials(accessKey: "rich:push", secret: "hidden"),
      deadline: .seconds(20), pause: { _ in try await Task.sleep(for: .seconds(3600)) })
    let request = Task { try await client.head("a") }
    for await _ in asked { break }
    request.cancel()
    let error = await #expect(throws: S3Error.self) { try await request.value }
    #expect(error?.code == .away && store.received.count <= 2)
  }
}
