import Dispatch

/// Threads that may wait for the disk, so that Swift's own never do.
struct DiskQueue: Sendable {
  private let queue: DispatchQueue

  init(_ name: String) {
    queue = DispatchQueue(label: name, attributes: .concurrent)
  }

  /// Runs blocking work and suspends its caller until it is done.
  func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: body)) }
    }
  }

  /// Runs blocking work that can't fail.
  func run<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }
}
