import Store
import Synchronization

/// Notes who fetched what, once for each: a phone that asks again costs the store nothing.
final class Fetches: Sendable {
  private struct Fetch: Hashable {
    let id: Int
    let user: UserID
    let device: String?
  }

  /// Two generations: when the young one is full, the old one, which is what nobody has fetched
  /// since, is forgotten.
  private struct Noted {
    var young: Set<Fetch> = []
    var old: Set<Fetch> = []

    mutating func holds(_ fetch: Fetch) -> Bool {
      if young.contains(fetch) { return true }
      guard old.remove(fetch) != nil else { return false }
      insert(fetch)
      return true
    }

    mutating func insert(_ fetch: Fetch) {
      if young.count >= Fetches.capacity / 2 {
        old = young
        young = []
      }
      young.insert(fetch)
    }
  }

  private let store: Store
  private let noted = Mutex(Noted())
  /// So many are remembered; of the others the store passes over what it knows.
  private static let capacity = 400_000

  init(store: Store) { self.store = store }

  /// Whether the user, who then is a recipient, fetched the notification on this device, if it says
  /// which one it is, not long ago.
  func isNoted(_ id: Int, by user: UserID, on device: String?) -> Bool {
    noted.withLock { $0.holds(Fetch(id: id, user: user, device: device)) }
  }

  /// Notes that a device of the user fetched the notification; the first time counts.
  func note(_ id: Int, by user: UserID, on device: String?) {
    let fetch = Fetch(id: id, user: user, device: device)
    let isNew = noted.withLock { noted in
      guard !noted.holds(fetch) else { return false }
      noted.insert(fetch)
      return true
    }
    if isNew { store.recordFetched(id, user: user, device: device) }
  }
}
