/// Wakes a waiting loop; signals sent while it is busy are combined into one.
package struct WakeSignal: Sendable {
  private let signals: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  /// A signal that has not been sent.
  package init() {
    (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Wakes the loop, or lets its next wait return at once.
  package func send() { continuation.yield() }

  /// Returns at the next signal, or when the task is cancelled.
  package func wait() async {
    var iterator = signals.makeAsyncIterator()
    _ = await iterator.next()
  }

  /// Returns at the next signal, when `timeout` returns, or when the task is cancelled.
  ///
  /// - Parameter timeout: Sleeps; it is cancelled when a signal comes first. If it throws, only a
  ///   signal ends the wait.
  package func wait(orUntil timeout: @escaping @Sendable () async throws -> Void) async {
    let alarm = Task {
      try await timeout()
      send()
    }
    await wait()
    alarm.cancel()
  }
}
