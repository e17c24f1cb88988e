/// A bounded dictionary that drops entries not used recently (approximately LRU).
///
/// It has two generations. Used entries move to the young one; when that is full, the old one, whose entries
/// were not used since, is dropped, and the young one becomes old. A look-up costs one or two
/// hashes and no list to maintain, unlike an LRU cache.
public struct GenerationalCache<Key: Hashable, Value> {
  @usableFromInline var young: [Key: Value] = [:]
  @usableFromInline var old: [Key: Value] = [:]
  @usableFromInline let generationSize: Int

  /// Creates a cache of at most `capacity` entries.
  @inlinable
  public init(capacity: Int) { generationSize = max(1, capacity / 2) }

  /// The number of entries.
  @inlinable
  public var count: Int { young.count + old.count }

  /// The value for the key, which counts as used.
  @inlinable
  public mutating func value(for key: Key) -> Value? {
    if let value = young[key] { return value }
    guard let value = old.removeValue(forKey: key) else { return nil }
    insert(value, for: key)
    return value
  }

  /// The value for the key, which does not count as used.
  @inlinable
  public func peek(_ key: Key) -> Value? { young[key] ?? old[key] }

  /// Sets the value for the key; drops the old generation when the young one is full.
  @inlinable
  public mutating func insert(_ value: Value, for key: Key) {
    if young.count >= generationSize, young[key] == nil {
      old = young
      young = [:]
    }
    old[key] = nil
    young[key] = value
  }

  /// Removes the value for the key.
  @inlinable
  public mutating func remove(_ key: Key) {
    young[key] = nil
    old[key] = nil
  }
}
