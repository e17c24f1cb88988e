import Synchronization

/// Lets work under one name be done in turn, and work under different names at once.
final class Turns: Sendable {
  private let last = Mutex<[String: (number: Int, task: Task<Void, Never>)]>([:])

  /// Runs `body` when all that was asked for earlier under this name is done.
  func take<R: Sendable>(
    _ name: String, _ body: @escaping @Sendable () async throws(Refusal) -> R
  ) async throws(Refusal) -> R {
    let (number, task) = last.withLock { last in
      let before = last[name]
      let number = (before?.number ?? 0) + 1
      let task = Task<Result<R, Refusal>, Never> {
        await before?.task.value
        do throws(Refusal) { return .success(try await body()) } catch { return .failure(error) }
      }
      last[name] = (number, Task { _ = await task.value })
      return (number, task)
    }
    let result = await task.value
    last.withLock { last in
      if last[name]?.number == number { last[name] = nil }
    }
    return try result.get()
  }
}
