import Synchronization

/// Uploads that nobody waits for: a few at a time, the newest first.
final class UploadQueue: Sendable {
  private struct State {
    var waiting: [Digest] = []
    var running = 0
    /// What to call when the uploads of these keys have ended.
    var pending: [Digest: [@Sendable () -> Void]] = [:]
  }

  private let state = Mutex(State())

  private static let width = 4
  private static let capacity = 10_000

  /// Calls `upload`, the same function each time, later; false if too many wait.
  func add(_ key: Digest, upload: @escaping @Sendable (Digest) async -> Void) -> Bool {
    let (isAdded, mustStart) = state.withLock { state in
      guard state.waiting.count < Self.capacity else { return (false, false) }
      state.waiting.append(key)
      state.pending[key, default: []] += []
      guard state.running < Self.width else { return (true, false) }
      state.running += 1
      return (true, true)
    }
    if mustStart {
      Task.detached(priority: .utility) { [self] in
        while let key = next() {
          await upload(key)
          end(key)
        }
      }
    }
    return isAdded
  }

  /// Calls a function when the upload of a key has ended; at once if there is none.
  func whenEnded(_ key: Digest, _ body: @escaping @Sendable () -> Void) {
    let isPending = state.withLock { $0.pending[key]?.append(body) != nil }
    if !isPending { body() }
  }

  private func end(_ key: Digest) {
    let bodies = state.withLock { $0.pending.removeValue(forKey: key) }
    for body in bodies ?? [] { body() }
  }

  private func next() -> Digest? {
    state.withLock { state in
      let key = state.waiting.popLast()
      if key == nil { state.running -= 1 }
      return key
    }
  }
}
