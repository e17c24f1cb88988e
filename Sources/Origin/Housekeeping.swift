import Media
import FoundationEssentials
import Store

/// Periodic work: removes what is no longer needed, and notices users and keys that another process changed.
struct Housekeeping: Sendable {
  let store: Store
  let retention: Retention
  let log: Log
  let authenticator: Authenticator
  let streams: [EventStreams]
  let links: MediaLinks
  let counts: RenditionCounts
  private static let interval = Duration.seconds(900)
  private static let renditionInterval = Duration.seconds(5)
  private static let storeInterval = Duration.seconds(2)

  init(
    store: Store, renditionBytes: Int, authenticator: Authenticator, streams: [EventStreams],
    links: MediaLinks, counts: RenditionCounts, log: Log
  ) {
    (self.store, self.links, self.counts, self.log) = (store, links, counts, log)
    (self.authenticator, self.streams) = (authenticator, streams)
    var retention = Retention()
    retention.renditionBytes = renditionBytes
    self.retention = retention
  }

  /// Runs until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await collect() }
      group.addTask { await watchStore() }
      group.addTask { await watchRenditions() }
    }
  }

  /// Applies what another process changed: closes the streams of users who were removed or have
  /// another password, and signs with new keys.
  func reload() throws {
    let isCurrent = try authenticator.forgetChanged()
    for streams in streams { streams.close(unless: isCurrent) }
    try links.reload()
  }

  private func watchStore() async {
    while !Task.isCancelled {
      do { try reload() } catch { log("users and keys could not be read: \(error.logDescription)") }
      try? await Task.sleep(for: Self.storeInterval)
    }
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
