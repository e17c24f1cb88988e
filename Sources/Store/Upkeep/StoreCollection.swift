package import FoundationEssentials
import Glibc
import Synchronization

/// How long data that is no longer needed is kept.
package struct Retention: Sendable {
  /// The most bytes of renditions, or nil for no limit; the least recently used beyond it are removed.
  package var renditionBytes: Int?
  /// How long a rendition is kept after its last use, in seconds, whatever the limit.
  package var renditionGrace: TimeInterval = 15
  /// How long unreferenced content is kept after it was last added, in seconds.
  package var blobGrace: TimeInterval = 3600
  /// How long events for publishers are kept, in seconds.
  package var eventAge: TimeInterval = 7 * 86400
  /// The most events for publishers; the oldest are removed.
  package var events = 1_000_000
  /// How long push events, settled jobs and idempotency keys are kept, in seconds.
  package var historyAge: TimeInterval = 30 * 86400

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
  /// Removes expired notifications, old history, unreferenced content and renditions beyond the limit.
  ///
  /// Safe at any time. Queued jobs are kept regardless of their age.
  package func collect(_ retention: Retention) async throws -> CollectionReport {
    var report = CollectionReport()
    report.notifications = try await removeExpiredNotifications()
    try await removeHistory(before: now().addingTimeInterval(-retention.historyAge))
    try await removeEvents(
      before: now().addingTimeInterval(-retention.eventAge), keeping: retention.events)
    (report.blobs, report.blobBytes) = try await upkeep.run { [self] in
      try removeUnreferencedBlobs(olderThan: now().addingTimeInterval(-retention.blobGrace))
    }
    (report.renditions, report.renditionBytes) = await collectRenditions(retention)
    return report
  }

  /// Removes renditions beyond the limit only, for times when many are made.
  package func collectRenditions(_ retention: Retention) async -> (count: Int, bytes: Int) {
    await renditions.removeLeastRecentlyUsed(
      above: retention.renditionBytes ?? .max,
      unusedSince: now().addingTimeInterval(-retention.renditionGrace))
  }

  /// Rows per commit, so that other changes are not delayed for long.
  private static let batch = 1000

  private func removeExpiredNotifications() async throws -> Int {
    // A hundred at a time, because their recipients, events and jobs are deleted with them.
    try await removeAll(
      """
      DELETE FROM notification
      WHERE id IN (SELECT id FROM notification WHERE expires <= ? LIMIT 100)
      """, now())
  }

  private func removeHistory(before time: Date) async throws {
    try await removeOldest("push_event", "sequence", "created < ?", time)
    // A queued job may wait longer than that: for its time, or for an operator to repair the lane.
    try await removeOldest("job", "id", "state <> 'queued' AND updated < ?", time)
    try await removeOldest(
      "push", "id", "? AND NOT EXISTS (SELECT 1 FROM job WHERE job.push = old.id)", true)
    let firstKept = try database.value(
      "SELECT id FROM notification WHERE created >= ? ORDER BY id LIMIT 1", time, as: Int.self)
    try await removeAll(
      """
      DELETE FROM idempotency WHERE notification IN (
        SELECT notification FROM idempotency WHERE notification < ? LIMIT \(Self.batch))
      """, firstKept ?? .max)
  }

  private func removeEvents(before time: Date, keeping count: Int) async throws {
    try await removeOldest("event", "sequence", "created < ?", time)
    try await removeOldest("event", "sequence", "sequence <= ?", try latestEvent() - count)
  }

  /// Removes rows that meet a condition on `old`.
  ///
  /// Numbers rise with time: if none of the oldest batch is old enough, none is.
  private func removeOldest(
    _ table: String, _ number: String, _ condition: String, _ value: some Column & Sendable
  ) async throws {
    try await removeAll(
      """
      DELETE FROM \(table) WHERE \(number) IN (
        SELECT \(number) FROM (SELECT * FROM \(table) ORDER BY \(number) LIMIT \(Self.batch)) AS old
        WHERE \(condition))
      """, value)
  }

  /// Repeats a statement, a commit each, until it changes nothing; returns the rows it changed.
  @discardableResult
  private func removeAll(_ sql: String, _ value: some Column & Sendable) async throws -> Int {
    var total = 0
    while case let count = try await database.run(sql, value), count > 0 {
      total += count
    }
    return total
  }

  private func removeUnreferencedBlobs(olderThan limit: Date) throws -> (count: Int, bytes: Int) {
    var (count, bytes) = (0, 0)
    // A backup copies the database and then the blobs it refers to: none may be removed meanwhile.
    try folder.collecting {
      try blobs.files.forEachFile { file in
        guard file.modified < limit, let digest = Digest(hex: file.name),
          try !isReferenced(digest), blobs.remove(digest, ifOlderThan: limit)
        else { return }
        count += 1
        bytes += file.size
      }
    }
    return (count, bytes)
  }

  private func isReferenced(_ digest: Digest) throws -> Bool {
    try database.value(
      """
      SELECT EXISTS (SELECT 1 FROM notification WHERE blob = ?1)
        OR EXISTS (SELECT 1 FROM asset WHERE blob = ?1)
      """, digest) ?? true
  }
}
