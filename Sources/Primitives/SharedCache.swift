public import Synchronization

// Public like GenerationalCache: a generic function of another module is not specialized if it is `package`.

/// A ``GenerationalCache`` that many threads use at once.
///
/// Its keys are spread over several caches with a lock each, so that the threads rarely wait for each other.
public final class SharedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline
  final class Part: Sendable {
    @usableFromInline let cache: Mutex<GenerationalCache<Key, Value>>

    @inlinable
    init(capacity: Int) { cache = Mutex(GenerationalCache(capacity: capacity)) }
  }

  @usableFromInline let parts: [Part]

  /// Creates a cache of at most `capacity` entries.
  @inlinable
  public init(capacity: Int) {
    let number = capacity < 1000 ? 1 : 16
    parts = (0..<number).map { _ in Part(capacity: capacity / number) }
  }

  /// The number of entries.
  @inlinable
  public var count: Int { parts.reduce(0) { $0 + $1.cache.withLock { $0.count } } }

  /// The value for the key, which counts as used.
  @inlinable
  public func value(for key: Key) -> Value? {
    part(of: key).cache.withLock { $0.value(for: key) }
  }

  /// Sets the value for the key.
  @inlinable
  public func insert(_ value: Value, for key: Key) {
    part(of: key).cache.withLock { $0.insert(value, for: key) }
  }

  /// Replaces or removes the value for the key, if it is still the one that `isKnown` knows.
  @inlinable
  public func replace(for key: Key, by new: Value?, if isKnown: (Value) -> Bool) {
    part(of: key).cache.withLock { cache in
      guard let value = cache.peek(key), isKnown(value) else { return }
      if let new { cache.insert(new, for: key) } else { cache.remove(key) }
    }
  }

  @inlinable
  func part(of key: Key) -> Part {
    // The dictionaries use the lower bits.
    parts[Int(truncatingIfNeeded: (UInt(bitPattern: key.hashValue) >> 32) % UInt(parts.count))]
  }
}
