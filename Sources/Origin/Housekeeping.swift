import FoundationEssentials
import Store

/// Collects what nobody needs any more, now and then.
struct Housekeeping: Sendable {
  let store: Store
  let retention: Retention
  let log: Log
  private static let interval = Duration.seconds(900)

  init(store: Store, renditionBytes: Int, log: Log) {
    (self.store, self.log) = (store, log)
    var retention = Retention()
    retention.renditionBytes = renditionBytes
    self.retention = retention
  }

  /// Collects until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      do {
        let removed = try await store.collect(retention)
        if removed.notifications + removed.blobs + removed.renditions > 0 {
          log(
            """
            collected \(removed.notifications) expired notifications, \(removed.blobs) blobs \
            (\(removed.blobBytes) bytes), \(removed.renditions) renditions \
            (\(removed.renditionBytes) bytes)
            """)
        }
      } catch { log("nothing could be collected: \(error)") }
      try? await Task.sleep(for: Self.interval)
    }
  }
}
