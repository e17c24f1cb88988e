import Synchronization

/// Lets work under one name be done in turn, and work under different names at once.
final class Turns: Sendable {
  private struct Place {
    var inside = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let places = Mutex<[String: Place]>([:])

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
    await withCheckedContinuation { turn in
      let isMine = places.withLock { places in
        guard places[name, default: Place()].inside >= width else {
          places[name, default: Place()].inside += 1
          return true
        }
        places[name]?.waiting.append(turn)
        return false
      }
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
