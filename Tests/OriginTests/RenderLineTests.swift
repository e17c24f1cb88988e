import HTTP
import Synchronization
import Testing

@testable import Origin

/// What is made first, and who is told to come back.
@Suite(.timeLimit(.minutes(1))) struct RenderLineTests {
  private final class Order: Sendable {
    private let names = Mutex<[String]>([])
    var all: [String] { names.withLock { $0 } }
    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  private static let made = Making.Outcome.success(.transient(.empty(204)))

  @Test func `what most wait for longest is made first`() async throws {
    let (line, order) = (RenderLine(width: 1), Order())
    let (gate, opener) = AsyncStream<Void>.makeStream()
    await withTaskGroup { group in
      group.addTask {
        _ = await line.make(Making()) {
          order.add("first")
          for await _ in gate { break }
          return Self.made
        }
      }
      while order.all.isEmpty { await Task.yield() }
      let start = ContinuousClock.now
      for (place, (name, phones)) in [("few", 1), ("many", 3)].enumerated() {
        let making = Making()
        for _ in 0..<phones { group.addTask { _ = await making.wait() } }
        while making.waiting < phones { await Task.yield() }
        group.addTask {
          let outcome = await line.make(making) {
            order.add(name)
            return Self.made
          }
          making.end(outcome)
        }
        while line.standing.waiting <= place { await Task.yield() }
      }
      // Three have waited longer together than the one, once its lead does not count for much.
      let joined = ContinuousClock.now
      while .now - joined < joined - start { await Task.yield() }
      opener.finish()
    }
    #expect(order.all == ["first", "many", "few"])
    #expect(line.standing == (0, 0))
  }

  @Test func `whoever would wait too long is told at once when to come back`() async throws {
    let (line, order) = (RenderLine(width: 1, patience: .zero), Order())
    let (gate, opener) = AsyncStream<Void>.makeStream()
    func busy(_ outcome: Making.Outcome) -> Bool {
      guard case .failure(let refusal) = outcome else { return false }
      return refusal.status == 503 && refusal.retryAfter == 1
    }
    await withTaskGroup { group in
      group.addTask {
        _ = await line.make(Making()) {
          order.add("first")
          for await _ in gate { break }
          return Self.made
        }
      }
      while order.all.isEmpty { await Task.yield() }
      group.addTask {
        #expect(busy(await line.make(Making()) { Self.made }), "it was its turn too late")
      }
      while line.standing.waiting < 1 { await Task.yield() }
      #expect(busy(await line.make(Making()) { Self.made }), "while the first still runs")
      #expect(line.standing == (1, 1))
      opener.finish()
    }
    #expect(line.standing == (0, 2))
    guard case .success = await line.make(Making(), by: { Self.made }) else {
      Issue.record("the line stays closed")
      return
    }
  }
}
