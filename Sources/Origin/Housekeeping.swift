import Delivery
import FoundationEssentials
import Media
import Store

/// Removes what is no longer needed, periodically; applies what another process changed, when told.
struct Housekeeping: Sendable {
  let store: Store
  let retention: Retention
  let log: Log
  let authenticator: Authenticator
  let streams: [EventStreams]
  let links: MediaLinks
  let signed: SignedMediaRoutes
  let lanes: PushLanes
  let counts: RenditionCounts
  private static let interval = Duration.seconds(900)
  private static let renditionInterval = Duration.seconds(5)

  init(
    store: Store, renditionBytes: Int, authenticator: Authenticator, streams: [EventStreams],
    links: MediaLinks, signed: SignedMediaRoutes, lanes: PushLanes, counts: RenditionCounts,
    log: Log
  ) {
    (self.store, self.counts, self.log) = (store, counts, log)
    (self.links, self.signed, self.lanes) = (links, signed, lanes)
    (self.authenticator, self.streams) = (authenticator, streams)
    var retention = Retention()
    retention.renditionBytes = renditionBytes
    self.retention = retention
  }

  /// Runs until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await collect() }
      group.addTask { await watchRenditions() }
    }
  }

  /// Applies what another process changed: closes the streams of users who were removed or have
  /// another password, signs with new keys, ends the links of removed ones, and looks for pushes that
  /// are due again.
  func reload() throws {
    let isCurrent = try authenticator.forgetChanged()
    for streams in streams { streams.close(unless: isCurrent) }
    if try links.reload() { signed.resolved.endAll() }
    lanes.wake()
  }

  /// Removes renditions beyond the limit within seconds: a whole folder can be dropped at once.
  private func watchRenditions() async {
    while !Task.isCancelled {
      if store.renditions.size > retention.renditionBytes ?? .max {
        let removed = await store.collectRenditions(retention)
        counts.count(.evicted, removed.count)
      }
      try? await Task.sleep(for: Self.renditionInterval)
    }
  }

  private func collect() async {
    while !Task.isCancelled {
      do {
        let removed = try await store.collect(retention)
        counts.count(.evicted, removed.renditions)
        if removed.notifications + removed.blobs + removed.renditions > 0 {
          log(
            """
            collected \(removed.notifications) expired notifications, \(removed.blobs) blobs \
            (\(removed.blobBytes) bytes), \(removed.renditions) renditions \
            (\(removed.renditionBytes) bytes)
            """)
        }
      } catch { log("clean-up failed: \(error.logDescription)") }
      try? await Task.sleep(for: Self.interval)
    }
  }
}
