import Primitives

/// The responses that one event loop may send again, by target and credentials.
///
/// Bounded by their number, about 160 bytes each; those not used for long are dropped.
final class CachedResponses {
  typealias Key = KeyedHash.Value

  private let hash = KeyedHash()
  // Only the loop's thread uses it: to look for overlapping accesses would cost more than to find an entry.
  @exclusivity(unchecked) private var responses: GenerationalCache<Key, any CachedResponse>

  /// Holds at most `capacity` responses.
  init(capacity: Int) { responses = GenerationalCache(capacity: capacity) }

  /// The key of requests with this target and Authorization field.
  func key(_ target: UnsafeRawBufferPointer, _ authorization: UnsafeRawBufferPointer?) -> Key {
    hash(target, authorization ?? .empty)
  }

  /// The response, if it is valid at this time in seconds since 1970.
  func find(_ key: Key, at second: Int) -> (any CachedResponse)? {
    guard let response = responses.value(for: key) else { return nil }
    guard response.isValid(at: second) else {
      responses.remove(key)
      return nil
    }
    return response
  }

  /// Caches a response, in the place of an earlier one.
  func insert(_ response: any CachedResponse, for key: Key) { responses.insert(response, for: key) }
}
