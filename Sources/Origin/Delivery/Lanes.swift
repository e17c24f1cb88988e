import Push
import Store
import Synchronization

/// The lanes of the push services that the operator wants, each at work on its own.
final class Lanes: Sendable {
  private let lanes: [Lane]
  private let work = Mutex<[Task<Void, Never>]>([])

  init(_ providers: [any PushProvider], store: Store, log: Log) {
    let queue = StoreQueue(store: store)
    lanes = providers.map { Lane(provider: $0, outbox: queue) { log($0) } }
    store.outbox.observe { [lanes] names in
      for lane in lanes where names.contains(lane.name) { lane.wake() }
    }
  }

  /// Begins to work off the outbox.
  func start() {
    work.withLock { work in
      work += lanes.map { lane in Task { await lane.run() } }
    }
  }

  /// Takes no more jobs, and waits for those under way.
  func stop() async {
    for lane in lanes { lane.stop() }
    for task in work.withLock({ $0 }) { await task.value }
  }

  /// How each lane is doing, by its name.
  var status: [(name: String, status: LaneStatus)] { lanes.map { ($0.name, $0.status) } }
}
