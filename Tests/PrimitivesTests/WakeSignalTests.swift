import Primitives
import Synchronization
import Testing
import Waiting

@Suite(.timeLimit(.minutes(1))) struct WakeSignalTests {
  @Test func `signals that are sent while nobody waits are one`() async throws {
    let signal = WakeSignal()
    for _ in 0..<3 { signal.send() }
    await signal.wait()
    let isOver = Mutex(false)
    async let second: Void = {
      await signal.wait()
      isOver.withLock { $0 = true }
    }()
    for _ in 0..<100 { await Task.yield() }
    #expect(!isOver.withLock { $0 })
    signal.send()
    await second
  }

  @Test func `after a wait that was cancelled, the next one waits again`() async throws {
    let signal = WakeSignal()
    for _ in 0..<100 {
      let first = Task { await signal.wait() }
      first.cancel()
      await first.value
    }
    let turns = Mutex(0)
    let loop = Task {
      while !Task.isCancelled {
        await signal.wait()
        turns.withLock { $0 += 1 }
      }
    }
    signal.send()
    try await eventually("the loop has a turn") { turns.withLock { $0 == 1 } }
    for _ in 0..<1000 { await Task.yield() }
    #expect(turns.withLock { $0 } == 1)
    loop.cancel()
    await loop.value
  }
}
