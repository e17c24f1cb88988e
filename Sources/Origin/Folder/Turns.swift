import Synchronization

/// Lets work under one name be done in turn, and work under different names at once.
final class Turns: Sendable {
  private struct Place {
    var inside = 0
    var waiting: [CheckedContinuation<Void, Never>] = []

    /// Whether there was room at once; if not, who waits is told when there is.
    mutating func isEntered(_ width: Int, _ turn: CheckedContinuation<Void, Never>?) -> Bool {
      if inside < width {
        inside += 1
        return true
      }
      if let turn { waiting.append(turn) }
      return false
    }
  }

  private let places = Mutex<[String: Place]>([:])

  /// Under how many names there is work.
  var count: Int { places.withLock { $0.count } }

  /// Runs `body` when it is its turn among all that is asked for under this name, `width` at a time.
  func take<R>(
    _ name: String, width: Int = 1, _ body: () async throws(Refusal) -> R
  ) async throws(Refusal) -> R {
    await enter(name, width)
    defer { leave(name) }
    return try await body()
  }

  /// The same for work that is done to its end, whatever becomes of who asked for it.
  func takeToTheEnd<R: Sendable>(
    _ name: String, _ body: @escaping @Sendable () async throws(Refusal) -> R
  ) async throws(Refusal) -> R {
    try await Task<Result<R, Refusal>, Never>(executorPreference: Crew.intake) {
      do throws(Refusal) { return .success(try await self.take(name, body)) } catch {
        return .failure(error)
      }
    }.value.get()
  }

  private func enter(_ name: String, _ width: Int) async {
    if places.withLock({ $0[name, default: Place()].isEntered(width, nil) }) { return }
    await withCheckedContinuation { turn in
      let isMine = places.withLock { $0[name, default: Place()].isEntered(width, turn) }
      if isMine { turn.resume() }
    }
  }

  private func leave(_ name: String) {
    let next = places.withLock { places -> CheckedContinuation<Void, Never>? in
      // Whoever comes next takes the place over.
      if places[name]?.waiting.isEmpty == false { return places[name]?.waiting.removeFirst() }
      places[name]?.inside -= 1
      if places[name]?.inside == 0 { places[name] = nil }
      return nil
    }
    next?.resume()
  }
}
