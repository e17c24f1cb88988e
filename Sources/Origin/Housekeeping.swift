import FoundationEssentials
import Store

/// What has to be done now and then: collect what nobody needs, notice who was removed.
struct Housekeeping: Sendable {
  let store: Store
  let retention: Retention
  let log: Log
  let authenticator: Authenticator
  let streams: PushStreams
  private static let interval = Duration.seconds(900)
  private static let usersInterval = Duration.seconds(2)

  init(
    store: Store, renditionBytes: Int, authenticator: Authenticator, streams: PushStreams, log: Log
  ) {
    (self.store, self.log) = (store, log)
    (self.authenticator, self.streams) = (authenticator, streams)
    var retention = Retention()
    retention.renditionBytes = renditionBytes
    self.retention = retention
  }

  /// Works until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await collect() }
      group.addTask { await watchUsers() }
    }
  }

  /// A user who was removed or has another password is out within seconds.
  private func watchUsers() async {
    while !Task.isCancelled {
      streams.close(authenticator.forgetChanged())
      try? await Task.sleep(for: Self.usersInterval)
    }
  }

  private func collect() async {
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
