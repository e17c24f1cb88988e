import Delivery
import FoundationEssentials
import Media
import Store
import Primitives

/// Removes expired data periodically, and applies changes by commands when they notify the server.
struct Housekeeping: Sendable {
  let store: Store
  let retention: Retention
  let authenticator: Authenticator
  let streams: [EventStreams]
  let links: MediaLinks
  let signed: SignedMediaRoutes
  let lanes: PushLanes
  let counts: RenditionCounts
  let log: Log
  private static let collectionInterval = Duration.seconds(900)
  // A whole folder can be dropped at once, so the limit of renditions is enforced within seconds.
  private static let renditionInterval = Duration.seconds(5)

  /// Runs until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await repeating(every: Self.collectionInterval, collect) }
      group.addTask { await repeating(every: Self.renditionInterval, collectRenditions) }
    }
  }

  /// Applies changes by other processes: closes the streams of users who were removed or have a new
  /// password, signs with new keys, invalidates the links of removed ones, and looks for pushes that
  /// are due again.
  func reload() async throws {
    authenticator.invalidate(nil)
    for streams in streams { await streams.closeInvalid() }
    if try await links.reload() { signed.resolved.changes.record(nil) }
    lanes.wake()
  }

  private func repeating(every interval: Duration, _ work: () async -> Void) async {
    while !Task.isCancelled {
      await work()
      try? await Task.sleep(for: interval)
    }
  }

  private func collectRenditions() async {
    guard store.renditions.size > retention.renditionBytes ?? .max else { return }
    counts.count(.evicted, await store.collectRenditions(retention).count)
  }

  private func collect() async {
    do {
      let removed = try await store.collect(retention)
      counts.count(.evicted, removed.renditions)
      guard removed.notifications + removed.blobs + removed.renditions > 0 else { return }
      log(
        .info, "store",
        """
        removed \(removed.notifications) expired notifications, \(removed.blobs) blobs \
        (\(removed.blobBytes) bytes), \(removed.renditions) renditions \
        (\(removed.renditionBytes) bytes)
        """)
    } catch { log(.error, "store", "clean-up failed: \(error.logDescription)") }
  }
}
