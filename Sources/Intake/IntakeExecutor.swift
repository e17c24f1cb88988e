package import Primitives
import Synchronization

extension BlockingExecutor {
  /// Examines dropped files; has two threads more than processors, since some wait for plugins.
  package static let intake = BlockingExecutor(
    threads: Processors.count + 2)

  /// Runs `body` to its end, even if the caller's task is cancelled.
  func runUncancelled<R: Sendable, E: Error>(
    _ body: @escaping @Sendable () async throws(E) -> R
  ) async throws(E) -> R {
    try await Task<Result<R, E>, Never>(executorPreference: self) {
      do throws(E) { return .success(try await body()) } catch { return .failure(error) }
    }.value.get()
  }
}

extension Array where Element: Sendable {
  /// Calls `body` for every element, the last one first, `width` at a time, on the intake's threads.
  ///
  /// Cancellation stops it from starting more; what was started is completed.
  package func forEachConcurrently(
    _ width: Int, _ body: @escaping @Sendable (Element) async -> Void
  ) async {
    let queue = ElementQueue(self)
    let width = Swift.min(width, count)
    // Each worker starts the next one, so that the first ones make progress at once.
    @Sendable func startWorker(_ number: Int) -> Task<Void, Never>? {
      if number == width { return nil }
      return Task(executorPreference: BlockingExecutor.intake) {
        let following = startWorker(number + 1)
        while let element = queue.next() { await body(element) }
        await following?.value
      }
    }
    await withTaskCancellationHandler {
      await startWorker(0)?.value
    } onCancel: {
      queue.removeAll()
    }
  }
}

/// Elements that no worker has taken yet.
private final class ElementQueue<Element: Sendable>: Sendable {
  private let elements: Mutex<[Element]>

  init(_ elements: [Element]) { self.elements = Mutex(elements) }

  func next() -> Element? { elements.withLock { $0.popLast() } }

  func removeAll() { elements.withLock { $0 = [] } }
}
