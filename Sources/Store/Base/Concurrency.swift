import Dispatch
import Synchronization

/// Functions that are called with values of one kind, to which a thread may add while others call them.
package final class Observers<Value: Sendable>: Sendable {
  // A closure that is read directly from a `Mutex` is wrapped in another at every read.
  private struct Function {
    let body: @Sendable (Value) -> Void
  }

  private let functions = Mutex<[Function]>([])

  /// Adds a function, which is called after those that were added before.
  package func add(_ body: @escaping @Sendable (Value) -> Void) {
    functions.withLock { $0.append(Function(body: body)) }
  }

  /// Calls the functions on this thread.
  package func callAsFunction(_ value: Value) {
    for function in functions.withLock({ $0 }) { function.body(value) }
  }
}

/// Threads for work that waits for the disk, of which Swift's cooperative pool has too few.
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
