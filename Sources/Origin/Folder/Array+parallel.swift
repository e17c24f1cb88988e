import Synchronization

extension Array where Element: Sendable {
  /// Does something with every element, the last one first, `width` of them at once; begins with no
  /// more when cancelled.
  ///
  /// What has begun is done to its end: it is not cancelled with who asked for it. Each that begins lets
  /// the next begin, so that those before go on in between.
  func inParallel(
    _ width: Int, _ body: @escaping @Sendable (Element) async -> Void
  ) async {
    let rest = Rest(self)
    let width = Swift.min(width, count)
    @Sendable func begin(_ number: Int) -> Task<Void, Never>? {
      if number == width { return nil }
      return Task(executorPreference: Crew.intake) {
        let following = begin(number + 1)
        while let next = rest.next() { await body(next) }
        await following?.value
      }
    }
    await withTaskCancellationHandler {
      await begin(0)?.value
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
