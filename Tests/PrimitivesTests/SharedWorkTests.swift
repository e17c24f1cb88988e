import Primitives
import Synchronization
import Testing
import Waiting

@Suite(.timeLimit(.minutes(1))) struct SharedWorkTests {
  private let work = SharedWork<String, Int>()
  private let gate = WakeSignal()

  private final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
  }

  @Test func `callers with one key share the work, those with another do not`() async throws {
    let (runs, joined) = (Counter(), Counter())
    let callers = (0..<5).map { _ in
      Task {
        await work.value("a", joining: { joined.add() }) {
          runs.add()
          await gate.wait()
          return 7
        }
      }
    }
    try await eventually("all wait") { work.waiters("a") == 5 }
    #expect(work.isUnderWay("a") && !work.isUnderWay("b") && work.waiters("b") == 0)
    #expect(await work.value("b") { 8 } == 8)
    gate.send()
    for caller in callers { #expect(await caller.value == 7) }
    #expect(runs.value == 1 && joined.value == 4 && !work.isUnderWay("a"))
    #expect(await work.value("a") { 9 } == 9, "the next caller begins anew")
  }

  @Test func `it is completed for others when the caller who began it is cancelled`() async throws {
    let first = Task { await work.value("a") { await waited() } }
    try await eventually("it has begun") { work.waiters("a") == 1 }
    let second = Task { await work.value("a") { 2 } }
    try await eventually("the other waits") { work.waiters("a") == 2 }
    first.cancel()
    gate.send()
    #expect(await second.value == 1)
  }

  @Test func `what begins without a caller returns its value only if that is known at once`()
    async throws
  {
    #expect(work.begin("a") { 3 } == 3)
    #expect(work.begin("a") { await waited() } == nil && work.isUnderWay("a"))
    #expect(work.begin("a") { 4 } == nil)
    let ended = Mutex<[Int]>([])
    work.whenEnded("a") { ended.withLock { $0.append(1) } }
    work.whenEnded("b") { ended.withLock { $0.append(2) } }
    #expect(ended.withLock { $0 } == [2])
    gate.send()
    try await eventually("it has ended") { ended.withLock { $0 } == [2, 1] }
  }

  @Test func `all callers get the error`() async throws {
    struct Failure: Error {}
    let work = SharedWork<Int, Result<Int, Failure>>()
    let callers = (0..<2).map { _ in
      Task {
        try await work.run(1) { () async throws(Failure) in
          await gate.wait()
          throw Failure()
        }
      }
    }
    try await eventually("both wait") { work.waiters(1) == 2 }
    gate.send()
    for caller in callers { await #expect(throws: Failure.self) { try await caller.value } }
  }

  private func waited() async -> Int {
    await gate.wait()
    return 1
  }
}
