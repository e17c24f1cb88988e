import Primitives
import Synchronization
import Testing
import Waiting

@Suite(.timeLimit(.minutes(1))) struct AdmissionQueueTests {
  private func waiting(_ queue: AdmissionQueue, _ count: Int) async throws {
    try await eventually("\(count) wait") { queue.status.waiting == count }
  }

  /// Why a queue rejects a waiter; `cancelled` if it has not decided within half a minute.
  private func rejection(_ queue: AdmissionQueue) async -> AdmissionQueue.Rejection? {
    let waiter = Task { try await queue.admit() }
    let alarm = Task {
      try await Task.sleep(for: .seconds(30))
      waiter.cancel()
    }
    defer { alarm.cancel() }
    return await waiter.result.error as? AdmissionQueue.Rejection
  }

  @Test func `admits so many at once, and the next in the order of arrival`() async throws {
    let queue = AdmissionQueue(width: 2, timeout: .seconds(60))
    try await queue.admit()
    try await queue.admit()
    #expect(!queue.tryAdmit())
    let order = Recorder()
    try await withThrowingDiscardingTaskGroup { group in
      for number in 3...5 {
        group.addTask {
          try await queue.admit()
          order.append(number)
          queue.release()
        }
        try await waiting(queue, number - 2)
      }
      queue.release()
    }
    #expect(order.values == [3, 4, 5])
    queue.release()
    #expect(queue.status.running == 0 && queue.status.waiting == 0)
  }

  @Test func `admits the highest priority first`() async throws {
    let queue = AdmissionQueue(width: 1, timeout: .seconds(60))
    try await queue.admit()
    let order = Recorder()
    try await withThrowingDiscardingTaskGroup { group in
      for (index, rank) in [1, 3, 2].enumerated() {
        group.addTask {
          try await queue.admit(priority: { _ in .seconds(rank) })
          order.append(rank)
          queue.release()
        }
        try await waiting(queue, index + 1)
      }
      queue.release()
    }
    #expect(order.values == [3, 2, 1])
  }

  @Test func `rejects at once when as many wait as may`() async throws {
    let queue = AdmissionQueue(width: 1, maximumWaiters: 0, timeout: .seconds(60))
    try await queue.admit()
    #expect(await rejection(queue) == .full(expectedWait: .zero))
    #expect(queue.status.rejected == 1)
  }

  @Test func `expects a wait that is shorter the more run at once`() async throws {
    let queue = AdmissionQueue(width: 2, timeout: .seconds(15), initialDuration: .seconds(10))
    for _ in 0..<2 { try await queue.admit() }
    let waiters = (1...4).map { number in Task { try await queue.admit() } }
    try await waiting(queue, 4)
    #expect(await rejection(queue) == .full(expectedWait: .seconds(20)))
    for waiter in waiters { waiter.cancel() }
  }

  @Test func `rejects at once when the expected wait is longer than the timeout`() async throws {
    let queue = AdmissionQueue(width: 1, timeout: .seconds(15), initialDuration: .seconds(10))
    try await queue.admit()
    let waiters = (1...2).map { number in Task { try await queue.admit() } }
    try await waiting(queue, 2)
    #expect(await rejection(queue) == .full(expectedWait: .seconds(20)))
    for waiter in waiters { waiter.cancel() }
    for waiter in waiters {
      #expect(await waiter.result.error as? AdmissionQueue.Rejection == .cancelled)
    }
  }

  @Test func `measures what operations take`() async throws {
    let queue = AdmissionQueue(width: 1, timeout: .seconds(9))
    queue.releaseAdmitted(after: .seconds(80))
    try await queue.admit()
    let waiter = Task { try await queue.admit() }
    try await waiting(queue, 1)
    #expect(await rejection(queue) == .full(expectedWait: .seconds(10)))
    queue.release()
    try await waiter.value
  }

  @Test func `an operation that was quick shortens the expected wait`() async throws {
    let queue = AdmissionQueue(width: 1, timeout: .seconds(75), initialDuration: .seconds(80))
    _ = try await queue.withAdmission {}
    try await queue.admit()
    let waiters = (1...2).map { number in Task { try await queue.admit() } }
    try await waiting(queue, 2)
    for waiter in waiters { waiter.cancel() }
  }

  @Test func `rejects who is not admitted before the timeout`() async throws {
    let clock = ManualClock()
    let queue = AdmissionQueue(width: 1, timeout: .seconds(10), clock: clock)
    try await queue.admit()
    for _ in 0..<2 {
      async let found = rejection(queue)
      try await eventually("it waits") { clock.untilNext == .seconds(10) }
      clock.advance(by: .milliseconds(9999))
      #expect(queue.status.waiting == 1)
      clock.advance(by: .milliseconds(1))
      #expect(await found == .timedOut)
    }
    #expect(queue.status.waiting == 0)
    queue.release()
    #expect(queue.tryAdmit())
  }

  @Test func `a cancelled waiter does not take a slot`() async throws {
    let queue = AdmissionQueue(width: 1, timeout: .seconds(60))
    try await queue.admit()
    let waiter = Task { try await queue.admit() }
    try await waiting(queue, 1)
    waiter.cancel()
    #expect(await waiter.result.error as? AdmissionQueue.Rejection == .cancelled)
    queue.release()
    #expect(queue.tryAdmit() && !queue.tryAdmit())
  }

  @Test func `a task that was cancelled before does not wait`() async throws {
    let queue = AdmissionQueue(width: 1, timeout: .seconds(5))
    try await queue.admit()
    let waiter = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await queue.admit()
    }
    #expect(await waiter.result.error as? AdmissionQueue.Rejection == .cancelled)
  }

  @Test func `leaves reserved slots to those who cannot wait`() async throws {
    let queue = AdmissionQueue(width: 2, timeout: .seconds(60))
    try await queue.admit(reserving: 1)
    let waiter = Task { try await queue.admit(reserving: 1) }
    try await waiting(queue, 1)
    #expect(queue.tryAdmit())
    queue.release()
    #expect(queue.status.waiting == 1)
    queue.release()
    try await waiter.value
  }

  @Test func `says when nothing moves any more`() async throws {
    let clock = ManualClock()
    let queue = AdmissionQueue(width: 1, timeout: .seconds(5), clock: clock)
    try await queue.admit()
    async let found = rejection(queue)
    try await clock.advanceToNext()
    #expect(await found == .timedOut)
    clock.advance(by: .seconds(5))
    #expect(!queue.status.isStalled)
    clock.advance(by: .milliseconds(1))
    #expect(queue.status.isStalled)
    queue.release()
    #expect(!queue.status.isStalled)
  }

  @Test func `says that nothing moves while others still wait`() async throws {
    let clock = ManualClock()
    let queue = AdmissionQueue(width: 1, timeout: .seconds(5), clock: clock)
    try await queue.admit()
    let waiters = (1...2).map { number in Task { try await queue.admit() } }
    try await waiting(queue, 2)
    clock.advance(by: .seconds(4))
    queue.release()
    clock.advance(by: .seconds(10))
    #expect(!queue.status.isStalled, "one has ended ten seconds ago")
    clock.advance(by: .milliseconds(1))
    #expect(queue.status.isStalled)
    for waiter in waiters { _ = await waiter.result }
  }

  @Test func `gives back the slot of an operation that fails`() async throws {
    struct Failure: Error {}
    let queue = AdmissionQueue(width: 1, timeout: .seconds(60))
    let result = try await queue.withAdmission { throw Failure() }
    #expect(throws: Failure.self) { try result.get() }
    #expect(queue.status.running == 0)
  }
}

/// Numbers in the order in which they were appended.
final class Recorder: Sendable {
  private let numbers = Mutex<[Int]>([])

  var values: [Int] { numbers.withLock { $0 } }

  func append(_ number: Int) { numbers.withLock { $0.append(number) } }
}

extension AdmissionQueue {
  /// Counts an operation of this duration.
  fileprivate func releaseAdmitted(after time: Duration) {
    if tryAdmit() { release(after: time) }
  }
}

extension Result {
  fileprivate var error: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
