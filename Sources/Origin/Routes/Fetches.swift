import Store
import Synchronization

/// Notes who fetched what, once for each: a phone that asks again costs the store nothing.
final class Fetches: Sendable {
  private struct Fetch: Hashable {
    let id: Int
    let user: String
  }

  private let store: Store
  private let noted = Mutex<Set<Fetch>>([])
  /// As many are remembered; then all are forgotten, and the store passes over what it knows.
  private static let capacity = 200_000

  init(store: Store) { self.store = store }

  /// Notes that a device of the user fetched the notification; the first time counts.
  func note(_ id: Int, by user: String) {
    let isNew = noted.withLock { noted in
      if noted.count >= Self.capacity { noted.removeAll(keepingCapacity: true) }
      return noted.insert(Fetch(id: id, user: user)).inserted
    }
    if isNew { store.recordFetched(id, user: user) }
  }
}
