import Synchronization

extension Dictionary where Key: Sendable, Value: Sendable {
  /// Does something with every pair, `width` of them at once; begins with no more when cancelled.
  ///
  /// What has begun is done to its end: it is not cancelled with who asked for it.
  func inParallel(
    _ width: Int, _ body: @escaping @Sendable (Key, Value) async -> Void
  ) async {
    let rest = Rest(Array(self))
    let workers = (0..<Swift.min(width, count)).map { _ in
      Task(executorPreference: Crew.intake) {
        while let pair = rest.next() { await body(pair.key, pair.value) }
      }
    }
    await withTaskCancellationHandler {
      for worker in workers { await worker.value }
    } onCancel: {
      rest.drop()
    }
  }
}

/// What nobody has taken yet.
private final class Rest<Item: Sendable>: Sendable {
  private let items: Mutex<[Item]>

  init(_ items: [Item]) { self.items = Mutex(items) }

  func next() -> Item? { items.withLock { $0.popLast() } }

  func drop() { items.withLock { $0 = [] } }
}
