import FoundationEssentials
import Primitives
import S3
import Synchronization

extension Rendition {
  /// The fields of a stored rendition that identify what it was made of, and for whom if it is for one user.
  package static let sourceField = "X-Source"

  /// What it was made of, and for whom; empty if an earlier version has made it.
  var sources: [Digest] {
    fields.filter { $0.name == Self.sourceField }.compactMap { Digest(hex: $0.value) }
  }

  /// Identifies the content of a notification, its blob or else its literal content with its message, without telling it.
  package static func source(of blob: Digest?, payload: String, message: String) -> Digest {
    blob.map { source(of: $0) } ?? Digest(of: payload + "\0" + message)
  }

  /// Identifies what is made for a user.
  package static func source(ofUser user: UserID) -> Digest { Digest(of: "user \(user.rawValue)") }

  /// Identifies the content of a blob.
  static func source(of blob: Digest) -> Digest { Digest(of: blob.hex) }
}

/// What became of the erasures that were under way.
package struct ErasureReport: Sendable, Equatable {
  /// The users of whom nothing is left.
  package var erased: [UserID] = []
  /// Sentences about what may be left of them, or why the work is not done yet.
  package var notes: [String] = []
  /// Why the object store still has content of them, as a sentence; nil if it does not.
  package var obstacle: String?
}

extension Store {
  /// How long erased content is known, in seconds: until no node and no object store has renditions of it.
  static let erasedContentAge: TimeInterval = 45 * 86400
  /// Between the time that a row has and its commit, in seconds, and between the clocks of two nodes.
  static let longestCommit: TimeInterval = 600
  /// How much content is removed from the object store before that is noted.
  private static let objectsAtOnce = 32
  /// Content that is removed from the object store at the same time.
  private static let removalsAtOnce = 8

  /// Goes on with the erasures that are under way; with `removesRecords` false, only removes content that is on this node.
  ///
  /// Safe at any time, and after a process has ended in the middle of it. Throws `inUse` if this process does not own
  /// the data folder and another one does.
  package func continueErasures(removesRecords: Bool = true) async throws -> ErasureReport {
    var report = ErasureReport()
    let pending = removesRecords ? try await tables.erasures() : []
    let owner = lock == nil && !pending.isEmpty ? try folder.lock() : nil
    defer { withExtendedLifetime(owner) {} }
    if objects == nil, let url = folder.objectStore, !pending.isEmpty {
      throw folder.missingObjectStore(url)
    }
    for erasure in pending { try await tables.eraseRecords(of: erasure) }
    guard try await removeErasedContent() else {
      if !pending.isEmpty {
        report.notes.append("a backup or a clean-up is under way; content is removed after it")
      }
      return report
    }
    if removesRecords {
      report.obstacle = try await removeErasedObjects()
      if report.obstacle != nil { return report }
    }
    if pending.isEmpty { return report }
    let note = try await tables.eraseRemovedRows(isAlone: owner != nil)
    report.notes += note.map { [$0] } ?? []
    for erasure in pending {
      try await tables.endErasure(of: erasure.user)
      report.erased.append(erasure.user)
    }
    return report
  }

  /// Removes blobs and renditions of erased content from this node, and from the object store the renditions that this
  /// node may have uploaded since others looked there; false if none may be removed now.
  private func removeErasedContent() async throws -> Bool {
    let done = blobs.erased.withLock { $0 }
    let overlap = (done.values.max() ?? .distantPast).addingTimeInterval(-Self.longestCommit)
    let all = try await tables.erasedContent(after: overlap)
    let sources = Set(all.filter { done[$0.key] != $0.value }.keys)
    if sources.isEmpty { return true }
    // A backup copies the database and then the blobs it refers to.
    guard let lock = try folder.lockForCollection() else { return false }
    defer { withExtendedLifetime(lock) {} }
    let (files, found) = await upkeep.run { [blobs, renditions] in
      (blobs.digests(ofSources: sources), renditions.keys(ofSources: sources))
    }
    try await tables.removeUnreferencedFiles(of: files)
    for (key, sources) in found {
      guard let source = sources.first else {
        renditions.remove(key)
        continue
      }
      // The collection finds what is left there while the object store is away.
      do throws(StoreError) { try await renditions.erase(key, of: source) } catch {
        if error.code != .away { throw error }
      }
    }
    blobs.uploads.withLock { $0.forget() }
    let first = now().addingTimeInterval(-Self.erasedContentAge - Self.longestCommit)
    blobs.erased.withLock { erased in
      erased.merge(all) { $1 }
      erased = erased.filter { $0.value > first }
    }
    return true
  }

  // MARK: - The object store

  /// Removes what the object store has of erased content, whichever node has put it there; returns a sentence about why
  /// something is left.
  ///
  /// A notification or an asset that would refer to the content is refused meanwhile, and then until its node has removed
  /// its own files of it (`Changing.requireRenewed`): so that what it refers to is in the object store.
  private func removeErasedObjects() async throws -> String? {
    guard let objects else { return nil }
    do {
      var isChanged = false
      while case let some = try await tables.erasedObjects(limit: Self.objectsAtOnce), !some.isEmpty
      {
        if let other = try await otherOwner(objects) {
          return "another data folder uses the bucket (\(other)), and may need the same content; "
            + "if there is none, remove that object"
        }
        try await tables.awaitReferences()
        let start = ContinuousClock.now
        let unreferenced = try await tables.unreferenced(among: some.compactMap(\.blob))
        try await remove(some, unreferenced: Set(unreferenced), before: start + Self.longestDelay)
        try await tables.endErasedObjects(some)
        isChanged = true
      }
      // The same content, sent again, is refused until this node knows that it is gone.
      if isChanged { _ = try await removeErasedContent() }
      return nil
    } catch let error as StoreError where error.code == .away {
      return "the object store is away, and content is left there until it is back: \(error.reason)"
    }
  }

  /// Removes renditions of erased content, and its blobs to which nothing refers; throws `busy` if that takes longer than
  /// until `end`.
  private func remove(
    _ some: [ErasedObject], unreferenced: Set<Digest>, before end: ContinuousClock.Instant
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, object) in some.enumerated() {
        if index >= Self.removalsAtOnce { try await group.next() }
        group.addTask { [self] in
          try await remove(object, withBlob: object.blob.map(unreferenced.contains) == true, end)
        }
      }
      try await group.waitForAll()
    }
  }

  private func remove(
    _ object: ErasedObject, withBlob: Bool, _ end: ContinuousClock.Instant
  ) async throws(StoreError) {
    guard let objects else { return }
    if withBlob, let blob = object.blob {
      guard .now < end else {
        throw StoreError(.busy, "the object store takes too long to remove content")
      }
      // The notes of the collection have its digest as well.
      for key in [Blobs.key(blob), Self.noteKey(blob), Blobs.removalKey(blob)] {
        try await objects.delete(key)
      }
    }
    for rendition in try await objects.list(Renditions.prefix(of: object.source)) {
      try await objects.delete(rendition.key)
    }
  }
}

extension Blobs {
  /// The stored blobs that some sources identify.
  fileprivate func digests(ofSources sources: Set<Digest>) -> [Digest] {
    var found: [Digest] = []
    files.forEachFile { file in
      guard let digest = Digest(hex: file.name) else { return }
      if sources.contains(Rendition.source(of: digest)) { found.append(digest) }
    }
    return found
  }
}

extension Renditions {
  /// The keys of stored renditions that were made of some sources, each with all its sources.
  fileprivate func keys(ofSources sources: Set<Digest>) -> [Digest: [Digest]] {
    var found: [Digest: [Digest]] = [:]
    files.forEachFile { file in
      guard let key = Digest(hex: file.name) else { return }
      // One that an earlier version has made may be of anything.
      let own = storedHeader(key)?.sources ?? []
      if own.isEmpty || !sources.isDisjoint(with: own) { found[key] = own }
    }
    return found
  }
}
