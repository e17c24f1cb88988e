import FoundationEssentials
import Glibc
import Synchronization

extension Store {
  /// Removes what nobody needs any more; safe at any time beside everything else.
  package func collect(_ retention: Retention) async throws -> Collection {
    var collection = Collection()
    collection.notifications = try await removeExpiredNotifications()
    try await removeHistory(before: now().addingTimeInterval(-retention.historyAge))
    try await removeEvents(
      before: now().addingTimeInterval(-retention.eventAge), keeping: retention.events)
    let unreferenced = try await upkeep.run { [self] in
      try removeUnreferencedBlobs(olderThan: now().addingTimeInterval(-retention.blobGrace))
    }
    (collection.blobs, collection.blobBytes) = unreferenced
    (collection.renditions, collection.renditionBytes) = await collectRenditions(retention)
    return collection
  }

  /// Removes cold renditions only: for the time when many are made.
  package func collectRenditions(_ retention: Retention) async -> (count: Int, bytes: Int) {
    await renditions.removeCold(
      above: retention.renditionBytes ?? .max,
      unusedSince: now().addingTimeInterval(-retention.renditionGrace))
  }

  /// In small commits, so that other changes get their turn between them.
  private func removeExpiredNotifications() async throws -> Int {
    let moment = now()
    var total = 0
    while true {
      let removed = try await database.write { connection in
        try connection.run(
          """
          DELETE FROM notification
          WHERE id IN (SELECT id FROM notification WHERE expires <= ? LIMIT 100)
          """, moment)
      }
      total += removed
      if removed == 0 { return total }
    }
  }

  private func removeHistory(before moment: Date) async throws {
    // Numbers rise with time, so that a look at the oldest thousand tells whether any are too old.
    try await removeAll(
      """
      DELETE FROM push_event WHERE sequence IN (
        SELECT sequence FROM (SELECT sequence, created FROM push_event ORDER BY sequence LIMIT 1000)
        WHERE created < ?)
      """, moment)
    try await removeAll(
      """
      DELETE FROM job WHERE id IN (
        SELECT id FROM (SELECT id, state, updated FROM job ORDER BY id LIMIT 1000)
        WHERE state <> 'queued' AND updated < ?)
      """, moment)
    try await removeAll(
      """
      DELETE FROM push WHERE id IN (
        SELECT id FROM (SELECT id FROM push ORDER BY id LIMIT ?) AS old
        WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.push = old.id))
      """, 1000)
    let firstKept = try database.read { connection in
      try connection.value(
        "SELECT id FROM notification WHERE created >= ? ORDER BY id LIMIT 1", moment, as: Int.self)
    }
    try await removeAll(
      """
      DELETE FROM idempotency WHERE notification IN (
        SELECT notification FROM idempotency WHERE notification < ? LIMIT 1000)
      """, firstKept ?? .max)
  }

  private func removeEvents(before moment: Date, keeping count: Int) async throws {
    try await removeAll(
      """
      DELETE FROM event WHERE sequence IN (
        SELECT sequence FROM (SELECT sequence, created FROM event ORDER BY sequence LIMIT 1000)
        WHERE created < ?)
      """, moment)
    try await removeAll(
      "DELETE FROM event WHERE sequence IN (SELECT sequence FROM event WHERE sequence <= ? LIMIT 1000)",
      try latestEvent() - count)
  }

  private func removeAll(_ sql: String, _ value: some Column & Sendable) async throws {
    while try await database.write({ try $0.run(sql, value) }) > 0 {}
  }

  private func removeUnreferencedBlobs(olderThan limit: Date) throws -> (count: Int, bytes: Int) {
    var (count, bytes) = (0, 0)
    // A backup names its blobs first and copies them afterwards: it must find them.
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
    try database.read { connection in
      try connection.value(
        """
        SELECT EXISTS (SELECT 1 FROM notification WHERE blob = ?1)
          OR EXISTS (SELECT 1 FROM asset WHERE blob = ?1)
        """, digest) ?? true
    }
  }
}

extension Blobs {
  /// Removes a blob that was not added again meanwhile.
  ///
  /// Whoever wants to refer to it renews it first: either that comes before this, and the blob
  /// stays, or after it, and finds the blob gone.
  fileprivate func remove(_ digest: Digest, ifOlderThan limit: Date) -> Bool {
    ages.withLock { _ in
      var status = stat()
      guard stat(path(of: digest), &status) == 0, status.modified < limit else { return false }
      return unlink(path(of: digest)) == 0
    }
  }
}

extension Renditions {
  /// Removes the renditions that were not used for the longest time, until the rest fits.
  fileprivate func removeCold(
    above limit: Int, unusedSince moment: Date
  ) async -> (count: Int, bytes: Int) {
    await disk.run { [self] in
      var cold: [DigestFolder.Entry] = []
      var total = 0
      files.forEachFile { file in
        total += file.size
        if file.modified < moment { cold.append(file) }
      }
      cold.sort { $0.modified < $1.modified }
      var (count, bytes) = (0, 0)
      for file in cold {
        guard let key = Digest(hex: file.name) else { continue }
        guard total - bytes > limit else { break }
        guard forget(key, ifUnusedSince: moment) else { continue }
        count += 1
        bytes += file.size
      }
      self.bytes.withLock { $0 = total - bytes }
      return (count, bytes)
    }
  }
}
