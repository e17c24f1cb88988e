package import FoundationEssentials

/// Wakes the one loop that waits for it; rings while it is busy are remembered as one.
package struct Bell: Sendable {
  private let rings: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  /// A bell that has not rung yet.
  package init() {
    (rings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Wakes whoever waits, or is the next to wait.
  package func ring() { continuation.yield() }

  /// Returns at the next ring, when the deadline has come, or when the task is cancelled.
  package func wait(until deadline: Date?, by clock: any PushClock) async {
    let alarm = deadline.map { deadline in
      Task {
        try await clock.sleep(until: deadline)
        ring()
      }
    }
    var iterator = rings.makeAsyncIterator()
    _ = await iterator.next()
    alarm?.cancel()
  }
}
