import Dispatch
import Synchronization

/// A function that one thread may replace while others call it.
package final class Callback<Value: Sendable>: Sendable {
  // A closure that is read directly from a `Mutex` is wrapped in another at every read.
  private struct Function {
    let body: @Sendable (Value) -> Void
  }

  private let function = Mutex<Function?>(nil)

  /// Sets the function; it replaces the one set before.
  package func set(_ body: @escaping @Sendable (Value) -> Void) {
    function.withLock { $0 = Function(body: body) }
  }

  /// Calls the function on this thread, if one is set.
  package func callAsFunction(_ value: Value) { function.withLock { $0 }?.body(value) }
}

/// Threads that may wait for the disk, so that those of Swift's cooperative pool never do.
///
/// Dispatch adds threads as they block, up to 64: a burst of uploads waits for the disk together.
struct BlockingQueue: Sendable {
  private let queue: DispatchQueue

  init(_ label: String) { queue = DispatchQueue(label: label, attributes: .concurrent) }

  /// Runs blocking work and suspends the caller until it is done.
  func run<R: Sendable, E>(_ body: @escaping @Sendable () throws(E) -> R) async throws(E) -> R {
    let result: Result<R, E> = await withCheckedContinuation { continuation in
      queue.async {
        do throws(E) { continuation.resume(returning: .success(try body())) } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }
}
