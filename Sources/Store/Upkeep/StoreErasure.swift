import FoundationEssentials
import Primitives
import Synchronization

extension Rendition {
  /// The field of a stored rendition that identifies what it was made of.
  package static let sourceField = "X-Source"

  /// Identifies the content of a notification, its blob or else its literal content with its message, without telling it.
  package static func source(of blob: Digest?, payload: String, message: String) -> Digest {
    Digest(of: blob?.hex ?? payload + "\0" + message)
  }
}

/// What became of the erasures that were under way.
package struct ErasureReport: Sendable, Equatable {
  /// The users of whom nothing is left.
  package var erased: [UserID] = []
  /// Sentences about what may be left of them, or why the work is not done yet.
  package var notes: [String] = []
}

extension Store {
  /// How long erased content is known, in seconds: until no node and no object store has renditions of it.
  static let erasedContentAge: TimeInterval = 45 * 86400
  /// Between the time that a row has and its commit, in seconds, and between the clocks of two nodes.
  private static let longestCommit: TimeInterval = 600

  /// Goes on with the erasures that are under way; with `removesRecords` false, only removes content that is on this node.
  ///
  /// Safe at any time, and after a process has ended in the middle of it. Throws `inUse` if this process does not own
  /// the data folder and another one does.
  package func continueErasures(removesRecords: Bool = true) async throws -> ErasureReport {
    var report = ErasureReport()
    let pending = removesRecords ? try await tables.erasures() : []
    let owner = lock == nil && !pending.isEmpty ? try folder.lock() : nil
    defer { withExtendedLifetime(owner) {} }
    for erasure in pending { try await tables.eraseRecords(of: erasure) }
    guard try await removeErasedContent() else {
      if !pending.isEmpty {
        report.notes.append("a backup or a clean-up is under way; content is removed after it")
      }
      return report
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

  /// Removes blobs and renditions of erased content from this node; false if none may be removed now.
  private func removeErasedContent() async throws -> Bool {
    let done = erased.withLock { $0 }
    let overlap = (done.values.max() ?? .distantPast).addingTimeInterval(-Self.longestCommit)
    let all = try await tables.erasedContent(after: overlap)
    let sources = Set(all.filter { done[$0.key] != $0.value }.keys)
    if sources.isEmpty { return true }
    // A backup copies the database and then the blobs it refers to.
    guard let lock = try folder.lockForCollection() else { return false }
    defer { withExtendedLifetime(lock) {} }
    let (blobs, keys) = await upkeep.run { [blobs, renditions] in
      (blobs.digests(ofSources: sources), renditions.keys(ofSources: sources))
    }
    try await tables.removeUnreferencedFiles(of: blobs)
    for key in keys {
      renditions.remove(key)
      try await objects?.delete(Renditions.key(key))
    }
    erased.withLock { $0 = all }
    return true
  }
}

extension Blobs {
  /// The stored blobs that some sources identify.
  fileprivate func digests(ofSources sources: Set<Digest>) -> [Digest] {
    var found: [Digest] = []
    files.forEachFile { file in
      guard let digest = Digest(hex: file.name) else { return }
      if sources.contains(Rendition.source(of: digest, payload: "", message: "")) {
        found.append(digest)
      }
    }
    return found
  }
}

extension Renditions {
  /// The keys of stored renditions that were made of some sources.
  fileprivate func keys(ofSources sources: Set<Digest>) -> [Digest] {
    var found: [Digest] = []
    files.forEachFile { file in
      guard let key = Digest(hex: file.name) else { return }
      let source = storedHeader(key)?.fields.last { $0.name == Rendition.sourceField }
      // One that an earlier version has made may be of anything.
      guard let source, let digest = Digest(hex: source.value) else { return found.append(key) }
      if sources.contains(digest) { found.append(key) }
    }
    return found
  }
}
