import Synchronization
import Testing

@testable import Origin

@Suite struct TurnsTests {
  @Test func `work under one name is done one after the other, and other names do not wait`()
    async throws
  {
    let turns = Turns()
    let crowd = Crowd()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<300 {
        group.addTask {
          try? await turns.take("\(number % 3)") { () async throws(Refusal) in
            crowd.enter(number % 3)
            await Task.yield()
            crowd.leave(number % 3)
          }
        }
      }
    }
    #expect(crowd.most == 1)
    // Nobody has a name any more: each can be had at once.
    #expect(try await turns.take("0") { () async throws(Refusal) in 7 } == 7)
  }

  @Test func `as many are inside as there is room for, and no more`() async throws {
    let turns = Turns()
    let (crowd, askers) = (Crowd(), Crowd())
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 {
        group.addTask {
          askers.enter(0)
          try? await turns.take("a", width: 3) { () async throws(Refusal) in
            crowd.enter(0)
            // Nobody leaves before the room is full and all others have asked.
            while crowd.most < 3 || askers.most < 100 { await Task.yield() }
            for _ in 0..<100 { await Task.yield() }
            crowd.leave(0)
          }
        }
      }
    }
    #expect(crowd.most == 3)
  }

  /// How many are inside under each name, and the most there ever were.
  private final class Crowd: Sendable {
    private let state = Mutex((inside: [Int: Int](), most: 0))
    var most: Int { state.withLock { $0.most } }

    func enter(_ name: Int) {
      state.withLock { state in
        state.inside[name, default: 0] += 1
        state.most = max(state.most, state.inside[name] ?? 0)
      }
    }

    func leave(_ name: Int) { state.withLock { $0.inside[name, default: 0] -= 1 } }
  }

  @Test func `a refusal lets the next one in`() async throws {
    let turns = Turns()
    await #expect(throws: Refusal.self) {
      try await turns.take("a") { () async throws(Refusal) in throw Refusal(422, "No.") }
    }
    #expect(try await turns.take("a") { () async throws(Refusal) in 1 } == 1)
  }

  @Test func `work that is begun is done to its end, though nobody waits for it any more`()
    async throws
  {
    let turns = Turns()
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    let asking = Task {
      try await turns.takeToTheEnd("a") { () async throws(Refusal) in
        beginning.finish()
        for await _ in gate {}
        return Task.isCancelled
      }
    }
    for await _ in begun {}
    asking.cancel()
    opening.finish()
    #expect(try await asking.value == false)
  }
}
