import Synchronization

extension Array where Element: Sendable {
  /// Does something with every element, the last one first, `width` of them at once; begins with no
  /// more when cancelled.
  ///
  /// What has begun is done to its end: it is not cancelled with who asked for it.
  func inParallel(
    _ width: Int, _ body: @escaping @Sendable (Element) async -> Void
  ) async {
    let rest = Rest(self)
    let workers = (0..<Swift.min(width, count)).map { _ in
      Task(executorPreference: Crew.intake) {
        while let next = rest.next() { await body(next) }
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
