extension Dictionary where Key: Sendable, Value: Sendable {
  /// Does something with every pair, at most `width` of them at once; ends early when cancelled.
  func inParallel(_ width: Int, _ body: @escaping @Sendable (Key, Value) async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      for (index, (key, value)) in enumerated() {
        if index >= width { await group.next() }
        if Task.isCancelled { break }
        group.addTask { await body(key, value) }
      }
    }
  }
}
