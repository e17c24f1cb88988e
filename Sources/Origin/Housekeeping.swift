import FoundationEssentials
import Store

/// What has to be done now and then: collect what nobody needs, notice who was removed.
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

  /// Works until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await collect() }
      group.addTask { await watchStore() }
      group.addTask { await watchRenditions() }
    }
  }

  /// Takes over what another process changed: users who were removed or have another password are
  /// out, keys that were made sign.
  func reload() throws {
    let changed = authenticator.forgetChanged {
      streams.reduce(into: []) { $0.formUnion($1.users) }
    }
    for streams in streams { streams.close(changed) }
    try links.reload()
  }

  private func watchStore() async {
    while !Task.isCancelled {
      do { try reload() } catch { log("the keys of links could not be read: \(error)") }
      try? await Task.sleep(for: Self.storeInterval)
    }
  }

  /// Makes room soon when renditions take more than they may: a whole folder can come at once.
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
      } catch { log("nothing could be collected: \(error)") }
      try? await Task.sleep(for: Self.interval)
    }
  }
}
