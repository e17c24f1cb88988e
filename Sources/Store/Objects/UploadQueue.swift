import Synchronization

/// Uploads that nobody waits for: a few at a time, the newest first.
final class UploadQueue: Sendable {
  private struct State {
    var waiting: [Digest] = []
    var running = 0
  }

  private let state = Mutex(State())

  private static let width = 4
  private static let capacity = 10_000

  /// Calls `upload`, the same function each time, later; false if too many wait.
  func add(_ key: Digest, upload: @escaping @Sendable (Digest) async -> Void) -> Bool {
    let (isAdded, mustStart) = state.withLock { state in
      guard state.waiting.count < Self.capacity else { return (false, false) }
      state.waiting.append(key)
      guard state.running < Self.width else { return (true, false) }
      state.running += 1
      return (true, true)
    }
    if mustStart {
      Task.detached(priority: .utility) { [self] in
        while let key = next() { await upload(key) }
      }
    }
    return isAdded
  }

  private func next() -> Digest? {
    state.withLock { state in
      let key = state.waiting.popLast()
      if key == nil { state.running -= 1 }
      return key
    }
  }
}
