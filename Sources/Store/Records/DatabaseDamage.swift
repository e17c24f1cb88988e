import Synchronization

/// What a database said when it was first found to be damaged; it is not forgotten until the process ends.
///
/// That is what SQLite or PostgreSQL says of its own files. A value that cannot be read is not: changes go on then.
final class DatabaseDamage: Sendable {
  private let first = Mutex<StoreError?>(nil)

  /// Nil if nothing is known to be damaged.
  var reason: String? { first.withLock { $0?.reason } }

  /// Throws `damaged` if something is known to be.
  func requireNone() throws(StoreError) {
    if let error = first.withLock({ $0 }) { throw error }
  }

  /// Records an error, if it is of that kind.
  func record(_ error: any Error) {
    guard let error = error as? StoreError, error.code == .damaged else { return }
    first.withLock { if $0 == nil { $0 = error } }
  }

  /// Records what `body` throws.
  func recording<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch {
      record(error)
      throw error
    }
  }
}
