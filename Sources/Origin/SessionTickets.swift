import HTTP
import Media
import Primitives
import Store
import Synchronization

/// The keys of session tickets in the store, as the server uses them.
final class SessionTickets: Sendable {
  /// Those that the server uses.
  let keys: TLSTicketKeys
  private let store: Store
  private let log: Log
  /// The number of the newest that is used.
  private let newest = Mutex(0)

  /// The number of the newest that is used, which is higher after each replacement; 0 before the first.
  var newestKey: Int { newest.withLock { $0 } }

  /// Uses none until the first ``update()``.
  init(_ keys: TLSTicketKeys, of store: Store, log: Log) {
    (self.keys, self.store, self.log) = (keys, store, log)
  }

  /// Uses what the store has, which makes another key when it is time.
  func update() async throws {
    let present = try await store.tickets.ticketKeys()
    guard let first = present.first else { return }
    newest.withLock { newest in
      // What was read earlier may come later.
      guard first.id >= newest else { return }
      newest = first.id
      keys.replace(with: present.map(\.secret))
    }
  }

  /// The same; a failure is logged, and the keys in use stay.
  func updateOrLog() async {
    do { try await update() } catch {
      log(
        .warning, "store", "the keys of TLS session tickets were not read: \(error.logDescription)")
    }
  }
}
