import Store
import Synchronization

/// Those who wait for commits: the clock of held notifications, the publishers' streams, and the
/// courier to the operator's webhook.
final class Watches: Sendable {
  private let watches: [Watch]
  private let work = Mutex<[Task<Void, Never>]>([])

  init(store: Store, streams: EventStreams, courier: EventCourier, log: Log) {
    let clock = Watch {
      do { return try await store.announceDue() } catch {
        log("what is due could not be announced: \(error)")
        return nil
      }
    }
    let listeners = Watch {
      streams.hurry()
      return nil
    }
    watches = [clock, listeners, Watch { await courier.deliver() }]
    store.observeCommits { [watches] in
      for watch in watches { watch.ring() }
    }
  }

  /// Begins to watch.
  func start() {
    work.withLock { work in
      work += watches.map { watch in Task { await watch.run() } }
    }
  }

  /// Ends it; what was not delivered waits in the store.
  func stop() {
    work.withLock { work in
      for task in work { task.cancel() }
      work = []
    }
  }
}
