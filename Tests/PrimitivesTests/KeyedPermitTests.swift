import Primitives
import Testing

/// Permits of a `KeyedSemaphore`, which are held for as long as something is under way.
@Suite(.timeLimit(.minutes(1))) struct KeyedPermitTests {
  @Test func `a key gets as many as the semaphore is wide, and again once one ends`() throws {
    let semaphore = KeyedSemaphore<String>(width: 2)
    let first = try #require(semaphore.tryPermit("a"))
    var second = semaphore.tryPermit("a")
    #expect(second != nil && semaphore.tryPermit("a") == nil)
    #expect(semaphore.tryPermit("b") != nil, "another key's are its own")
    first.end()
    first.end()
    #expect(semaphore.running("a") == 1, "it ends once")
    second = nil
    #expect(semaphore.running("a") == 0 && semaphore.count == 0, "it ends with the last reference")
    #expect(semaphore.tryPermit("a", width: 1) != nil)
  }

  @Test func `only so many wait, in the order of their arrival`() async throws {
    let semaphore = KeyedSemaphore<String>(maximumWaiters: 2)
    let first = try #require(semaphore.tryPermit("a"))
    let waiters = (0..<2).map { _ in Task.immediate { await semaphore.permit("a") } }
    #expect(await semaphore.permit("a") == nil, "a third does not wait")
    #expect(await semaphore.permit("b") != nil)
    first.end()
    let second = try #require(await waiters[0].value)
    #expect(semaphore.tryPermit("a") == nil, "the permit has passed to the first that waited")
    second.end()
    #expect(await waiters[1].value != nil)
  }

  @Test func `who stops waiting gets none, and leaves the place to another`() async throws {
    let semaphore = KeyedSemaphore<String>(maximumWaiters: 1)
    let first = try #require(semaphore.tryPermit("a"))
    let cancelled = Task.immediate { await semaphore.permit("a") }
    cancelled.cancel()
    #expect(await cancelled.value == nil)
    let waiter = Task.immediate { await semaphore.permit("a") }
    first.end()
    let permit = try #require(await waiter.value)
    permit.end()
    #expect(semaphore.count == 0)
  }
}
