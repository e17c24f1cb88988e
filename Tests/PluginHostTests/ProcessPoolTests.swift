import Synchronization
import Testing
import Waiting

@testable import PluginHost

/// How many processes there are, which one gets a call, and when one is ended.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ProcessPoolTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  /// A process that exists only in this test.
  private final class Member: PooledProcess {
    struct State {
      var isAlive = true
      var requests = 0
      var isRetired = false
      var onIdleTimeout: (@Sendable () -> Void)?
      var idleDeadline: ContinuousClock.Instant?
      var onEnd: (@Sendable () -> Void)?
    }
    let number: Int
    let scratch: ScratchFolder
    let isReplaceable: Bool
    let state = Mutex(State())

    init(number: Int, scratch: ScratchFolder, isReplaceable: Bool = true) {
      (self.number, self.scratch, self.isReplaceable) = (number, scratch, isReplaceable)
    }

    var isAlive: Bool { state.withLock { $0.isAlive } }
    var requests: Int { state.withLock { $0.requests } }
    var isRetired: Bool { state.withLock { $0.isRetired } }
    func becomeIdle(
      until deadline: ContinuousClock.Instant, then action: @escaping @Sendable () -> Void
    ) {
      state.withLock { ($0.idleDeadline, $0.onIdleTimeout) = (deadline, action) }
    }
    func onEnd(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onEnd = action } }
    func retire() { state.withLock { $0.isRetired = true } }

    func serve() { state.withLock { $0.requests += 1 } }
    func end() {
      let action = state.withLock { state in
        state.isAlive = false
        return state.onEnd.take()
      }
      action?()
    }
    func timeOutIdle() { state.withLock { $0.onIdleTimeout }?() }
  }

  private func pool(
    _ change: (inout Manifest.Workers) -> Void = { _ in }, started: Started = Started(),
    isReplaceable: Bool = true
  ) -> ProcessPool<Member> {
    var limits = Manifest.Workers()
    change(&limits)
    let scratch = try? fixture.processFolder().scratch
    return ProcessPool(limits: limits) { () throws(PluginError) in
      guard let scratch else { throw .busy("There is no folder.") }
      return started.members.withLock { members in
        let member = Member(
          number: members.count, scratch: scratch, isReplaceable: isReplaceable)
        members.append(member)
        return member
      }
    }
  }

  private final class Started: Sendable {
    let members = Mutex<[Member]>([])
    var count: Int { members.withLock { $0.count } }
  }

  /// Gives a call to a process, and returns the process.
  private func call(_ pool: ProcessPool<Member>) async throws -> Member {
    try await pool.withProcess { member in
      member.serve()
      return member
    }
  }

  @Test func `gives the process that was used last the next call`() async throws {
    let pool = pool()
    let (outer, inner) = try await pool.withProcess { outer throws(PluginError) in
      let inner = try await pool.withProcess { $0 }
      #expect(pool.count == (idle: 1, busy: 1))
      return (outer, inner)
    }
    #expect(outer.number == 0 && inner.number == 1 && pool.count == (idle: 2, busy: 0))
    for _ in 0..<3 { #expect(try await call(pool) === outer) }
  }

  @Test func `does not give a call to a process that has ended`() async throws {
    let pool = pool()
    let first = try await call(pool)
    first.state.withLock { $0.isAlive = false }
    #expect(try await call(pool) !== first)
  }

  @Test func `replaces a process after its calls`() async throws {
    let pool = pool { $0.requests = 2 }
    let first = try await call(pool)
    #expect(!first.isRetired)
    #expect(try await call(pool) === first && first.isRetired)
    #expect(try await call(pool) !== first)
  }

  @Test func `ends a process that is idle for long, unless it is one of the minimum`() async throws
  {
    let pool = pool { ($0.min, $0.idleSeconds) = (1, 7) }
    let start = ContinuousClock.now
    let members = try await pool.withProcess { outer throws(PluginError) in
      [outer, try await pool.withProcess { $0 }]
    }
    let deadline = try #require(members[0].state.withLock { $0.idleDeadline })
    #expect((start + .seconds(7)...(.now + .seconds(7))).contains(deadline))
    members[1].timeOutIdle()
    #expect(members[1].isRetired && pool.count.idle == 1)
    members[0].timeOutIdle()
    #expect(!members[0].isRetired && pool.count.idle == 1)
  }

  @Test func `ends idle processes when it is closed, and others after their calls`() async throws {
    let pool = pool()
    let (busy, idle) = try await pool.withProcess { busy throws(PluginError) in
      let idle = try await pool.withProcess { $0 }
      pool.close()
      #expect(idle.isRetired && !busy.isRetired)
      return (busy, idle)
    }
    #expect(busy.isRetired && idle.isRetired && pool.count.idle == 0)
  }

  @Test func `starts another process at once after one failure, then after 1, 2, 4 … 60 seconds`()
    async throws
  {
    let pool = pool()
    pool.recordFailure()
    let first = try await call(pool)
    first.state.withLock { $0.isAlive = false }
    var pauses: [Int] = []
    pool.recordFailure()
    for _ in 0..<8 {
      pool.recordFailure()
      do throws(PluginError) {
        _ = try await pool.withProcess { $0 }
      } catch {
        #expect(error.code == .busy)
        pauses.append(error.retryAfter ?? 0)
      }
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60])
  }

  @Test func `forgets failures after a call that a process survived`() async throws {
    let pool = pool()
    try await pool.withProcess { _ in
      for _ in 0..<5 { pool.recordFailure() }
    }
    _ = try await pool.withProcess { outer throws(PluginError) in
      try await pool.withProcess { $0 }
    }
  }

  @Test func `starts processes in advance, but not after failures or beyond the number`() {
    let started = Started()
    let pool = pool(started: started)
    pool.prestart(2)
    pool.prestart(2)
    #expect(started.count == 2 && pool.count.idle == 2)
    pool.recordFailure()
    pool.prestart(3)
    #expect(started.count == 2)
    pool.close()
    pool.prestart(5)
    #expect(started.count == 2)
  }

  @Test func `keeps the minimum, and replaces what has ended`() async throws {
    let started = Started()
    let pool = pool({ $0.min = 2 }, started: started)
    pool.fill()
    try await eventually("two are started") { pool.count.idle == 2 }
    let first = try await call(pool)
    first.end()
    try await eventually("a third is started") { started.count == 3 }
    #expect(pool.count.idle == 2)
  }

  @Test func `replaces no process that says so`() async throws {
    let started = Started()
    let pool = pool({ $0.min = 1 }, started: started, isReplaceable: false)
    pool.prestart(1)
    let first = try await call(pool)
    first.end()
    pool.prestart(1)
    #expect(started.count == 2)
    let second = try #require(started.members.withLock { $0.last })
    second.end()
    #expect(pool.count == (idle: 0, busy: 0))
  }

  @Test func `counts a process that ends without a call as a failure`() async throws {
    let started = Started()
    let pool = pool(started: started)
    pool.prestart(1)
    let first = try #require(started.members.withLock { $0.first })
    first.end()
    pool.prestart(2)
    #expect(started.count == 1)
  }
}
