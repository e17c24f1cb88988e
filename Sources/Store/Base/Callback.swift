import Synchronization

/// A function that one thread may replace while others call it.
final class Callback<Value: Sendable>: Sendable {
  // A closure that is read directly from a `Mutex` is wrapped in another at every read.
  private struct Function {
    let body: @Sendable (Value) -> Void
  }

  private let function = Mutex<Function?>(nil)

  /// Sets the function; it replaces the one set before.
  func set(_ body: @escaping @Sendable (Value) -> Void) {
    function.withLock { $0 = Function(body: body) }
  }

  /// Calls the function on this thread, if one is set.
  func callAsFunction(_ value: Value) { function.withLock { $0 }?.body(value) }
}
