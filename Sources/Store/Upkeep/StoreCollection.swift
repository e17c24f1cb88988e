package import FoundationEssentials

/// How long data that is no longer needed is kept.
package struct Retention: Sendable {
  /// The most bytes of renditions, or nil for no limit; the least recently used beyond it are removed.
  package var renditionBytes: Int?
  /// How long a rendition is kept after its last use, in seconds, whatever the limit.
  package var renditionGrace: TimeInterval = 15
  /// The most bytes of blobs in the data folder, if an object store has them as well, or nil for no limit.
  package var cachedBlobBytes: Int?
  /// How long a blob's file is kept after its last use, in seconds, whatever the limit.
  package var cachedBlobGrace: TimeInterval = 120
  /// How long unreferenced content is kept after it was last added, in seconds.
  package var blobGrace: TimeInterval = 3600
  /// How long unreferenced content is kept in the object store, in seconds, and how long after it was found to be
  /// that.
  package var remoteBlobGrace: TimeInterval = 86400
  /// How long a rendition is kept in the object store after it was rendered, in seconds.
  package var remoteRenditionAge: TimeInterval = 30 * 86400
  /// How long events for publishers are kept, in seconds.
  package var eventAge: TimeInterval = 7 * 86400
  /// The most events for publishers; the oldest are removed.
  package var events = 1_000_000
  /// How long push events, settled jobs, idempotency keys and what is known of notifications that have ended are kept,
  /// in seconds.
  package var historyAge: TimeInterval = 30 * 86400
  /// How long entries of the audit log are kept, in seconds.
  package var auditAge: TimeInterval = 365 * 86400
  /// The most entries in each share of the audit log: of administration, of publishing, and of recipients.
  package var auditEntries = 500_000
  /// How long the content of replaced and removed assets is kept, in seconds.
  package var versionAge: TimeInterval = 30 * 86400
  /// The most bytes of that content; the first that was replaced is removed.
  package var versionBytes = 2 << 30
  /// How long after they were sent notifications are kept, in seconds, or nil until they expire.
  package var notificationAge: TimeInterval?
  /// How long after a notification was sent its devices' receipts, answers and replies are kept, in seconds, or nil for
  /// as long as the notification.
  package var receiptAge: TimeInterval?

  /// The defaults; each can be changed afterwards.
  package init() {}
}

/// What a collection removed.
package struct CollectionReport: Sendable, Equatable {
  /// Expired notifications.
  package var notifications = 0
  /// Pieces of unreferenced content.
  package var blobs = 0
  /// The bytes of that content.
  package var blobBytes = 0
  /// Renditions beyond the limit.
  package var renditions = 0
  /// The bytes of those renditions.
  package var renditionBytes = 0
}

extension Store {
  /// Removes what has expired, old history, unreferenced content and renditions beyond the limit.
  ///
  /// Safe at any time. Queued jobs are kept regardless of their age.
  package func collect(_ retention: Retention) async throws -> CollectionReport {
    var report = CollectionReport()
    // A database that cannot be written must not keep content from being removed, which makes space for it.
    var failure: (any Error)?
    do { report.notifications = try await removeOldRecords(retention) } catch { failure = error }
    (report.blobs, report.blobBytes) = try await removeUnreferencedBlobs(
      olderThan: now().addingTimeInterval(-retention.blobGrace))
    (report.renditions, report.renditionBytes) = await collectRenditions(retention)
    if let failure { throw failure }
    return report
  }

  /// Removes what has expired or ended, and old history; returns how many notifications.
  private func removeOldRecords(_ retention: Retention) async throws -> Int {
    var (notifications, failure): (Int, (any Error)?) = (0, nil)
    // One that fails each time must not keep the next ones from running.
    func attempt(_ step: () async throws -> Void) async {
      do { try await step() } catch { failure = failure ?? error }
    }
    await attempt { try await tables.removeEndedSessions() }
    await attempt {
      try await tables.removeExpiredAccessTokens(before: now() - StoredAccessToken.expiredAge)
    }
    await attempt { try await tables.removeFailedDeliveries(before: now() - FailedDelivery.age) }
    await attempt { try await tables.removeExpiredPairings(before: now() - Pairing.endedAge) }
    await attempt { try await tables.removeDailyPushes(before: now() - SendingRules.day) }
    await attempt {
      try await tables.removeEndedRegistrations(before: now() - RefusalRule.endedAge)
    }
    await attempt { try await tables.removeAbandonedSignUps() }
    await attempt { try await tables.removeErasedContent(before: now() - Self.erasedContentAge) }
    await attempt {
      notifications += try await tables.removeExpiredNotifications(
        before: now() - retention.historyAge)
    }
    if let age = retention.notificationAge {
      await attempt {
        notifications += try await tables.removeNotifications(before: now() - age)
      }
    }
    if let age = retention.receiptAge {
      await attempt { try await tables.removeReceipts(before: now() - age) }
    }
    await attempt { try await tables.removeHistory(before: now() - retention.historyAge) }
    await attempt {
      try await tables.removeEvents(
        before: now() - retention.eventAge, keeping: retention.events)
    }
    await attempt {
      try await tables.removeAuditEntries(
        before: now() - retention.auditAge, keeping: retention.auditEntries)
    }
    await attempt {
      try await tables.removeAssetVersions(
        endedBefore: now() - retention.versionAge, keepingBytes: retention.versionBytes)
    }
    if let failure { throw failure }
    return notifications
  }

  /// Removes renditions beyond the limit only, for times when many are made.
  package func collectRenditions(_ retention: Retention) async -> (count: Int, bytes: Int) {
    await renditions.removeLeastRecentlyUsed(
      above: retention.renditionBytes ?? .max,
      unusedSince: now().addingTimeInterval(-retention.renditionGrace))
  }

  /// Removes renditions while the disk that they are on has little space, the least recently used first: they can be
  /// made again.
  package func makeSpace(_ retention: Retention) async -> (count: Int, bytes: Int) {
    guard renditions.size > 0, let free = DiskSpace(of: folder.renditions)?.free,
      free < 2 * reserve.low
    else { return (0, 0) }
    return await renditions.removeLeastRecentlyUsed(
      above: Swift.max(0, renditions.size + free - 3 * reserve.low),
      unusedSince: now().addingTimeInterval(-retention.renditionGrace))
  }

  /// Removes the least recently used files of blobs beyond the limit of the cache, for times when many are
  /// fetched.
  @discardableResult
  package func trimBlobs(_ retention: Retention) async throws -> (count: Int, bytes: Int) {
    let limit = retention.cachedBlobBytes ?? .max
    guard blobs.cachedBytes ?? .max > limit else { return (0, 0) }
    // Less than the limit, so that not every fetch is followed by a removal.
    return try await blobs.removeLeastRecentlyUsed(
      above: limit / 10 * 9,
      unusedSince: now().addingTimeInterval(-retention.cachedBlobGrace))
  }

  private func removeUnreferencedBlobs(
    olderThan limit: Date
  ) async throws -> (count: Int, bytes: Int) {
    var (count, bytes) = (0, 0)
    // A backup copies the database and then the blobs it refers to: none may be removed meanwhile.
    guard let lock = try folder.lockForCollection() else { return (0, 0) }
    defer { withExtendedLifetime(lock) {} }
    for subfolder in blobs.files.subfolders {
      let old = await upkeep.run { [blobs] in
        var old: [Digest: Int] = [:]
        blobs.files.forEachFile(in: subfolder) { file in
          guard file.modified < limit, let digest = Digest(hex: file.name) else { return }
          old[digest] = file.size
        }
        return old
      }
      for digest in try await tables.unreferenced(among: Array(old.keys))
      where blobs.remove(digest, ifOlderThan: limit) {
        count += 1
        bytes += old[digest] ?? 0
      }
    }
    return (count, bytes)
  }
}
