import FoundationEssentials
import Glibc
import S3

/// What a visit to the object store changed.
package struct ObjectUpkeepReport: Sendable, Equatable {
  /// Blobs to which nothing referred, removed.
  package var blobs = 0
  /// Their bytes.
  package var blobBytes = 0
  /// Renditions that were too old, removed.
  package var renditions = 0
  /// Blobs of the data folder that the object store did not have.
  package var uploaded = 0
  /// The other data folder that uses the same bucket, so that nothing was removed.
  package var stranger: String?
}

// Any process may store or refer to a blob at any time, and there is no request that removes an object only if it
// has not changed. So a blob is removed in steps:
// 1. One that is older than a day and to which nothing refers is noted, as `orphans/<digest>`.
// 2. A day later, if that is still so, `removing/<digest>` announces the removal. Only then are the blob's age and
//    the references to it read again, and it is removed. The announcement stays for a day: were it removed, a
//    process that removes the same blob, or a last request that is under way, would no longer be announced.
// Who stores a blob makes it young again and then looks for an announcement (`Blobs.upload`): one of the two sees
// the other. Who refers to a blob without storing it has found another reference to it within the last day.
extension Store {
  /// The prefixes of keys, by which the object store is worked through.
  package static let objectPrefixes = (0...255).map { number in
    (number < 16 ? "0" : "") + String(number, radix: 16)
  }

  /// A removal that has not begun so long after its announcement is given up.
  static let longestDelay = Duration.seconds(Blobs.longestRemoval / 2)

  /// Removes blobs to which nothing refers and old renditions from the object store, and uploads what it should
  /// have, for keys that begin with some prefixes.
  ///
  /// Only uploads if `removes` is false: of several nodes, one is enough to remove.
  package func collectObjects(
    _ retention: Retention, prefixes: some Sequence<String> & Sendable = objectPrefixes,
    removes: Bool = true
  ) async throws -> ObjectUpkeepReport {
    var report = ObjectUpkeepReport()
    guard let objects else { return report }
    var erased: [Digest: Date] = [:]
    if removes {
      report.stranger = try await otherOwner(objects)
      erased = try await tables.erasedContent(after: .distantPast)
    }
    for prefix in prefixes {
      let stored = try await Self.digests(objects.list("blobs/\(prefix)/"))
      report.uploaded += try await uploadMissing(prefix, stored)
      guard removes, report.stranger == nil else { continue }
      try await collectBlobs(stored, prefix, retention, objects, &report)
      // What a node had not known to be erased when it uploaded it.
      if !erased.isEmpty {
        let late = stored.keys.filter { erased[Rendition.source(of: $0)] != nil }
        try await tables.addErasedObjects(tables.unreferenced(among: late))
      }
      func isOld(_ object: S3Object, _ limit: TimeInterval) -> Bool {
        Blobs.age(object.modified, at: now()) > limit
      }
      for object in try await objects.list("renditions/\(prefix)/") {
        guard let rendition = Renditions.RemoteName(object.key) else { continue }
        let erasure = rendition.source.flatMap { erased[$0] }?.timeIntervalSince1970 ?? 0
        // It is not known of what an earlier version has made it.
        guard
          rendition.source == nil || isOld(object, retention.remoteRenditionAge)
            || Double(object.modified) < erasure + Self.longestCommit
        else { continue }
        try await objects.delete(object.key)
        report.renditions += 1
      }
      for (digest, object) in try await Self.digests(objects.list("removing/\(prefix)"))
      where isOld(object, retention.remoteBlobGrace) && object.key == Blobs.removalKey(digest) {
        try await objects.delete(object.key)
      }
    }
    return report
  }

  /// Another data folder or database that has used the bucket; this one makes itself known.
  ///
  /// Its references are in another database, so that what is an orphan here may be needed there.
  func otherOwner(_ objects: ObjectStore) async throws -> String? {
    let shared = try await tables.contentOwner()
    guard let owner = shared ?? node ?? NodeStart.node(of: folder) else { return "unknown" }
    let own = "owners/\(owner)"
    let owners = try await objects.list("owners/").map(\.key)
    if !owners.contains(own) { try await objects.put(own, bytes: Array(owner.utf8)) }
    return owners.first { $0 != own }
  }

  /// Uploads the files that something refers to and the object store does not have.
  private func uploadMissing(
    _ prefix: String, _ stored: [Digest: S3Object]
  ) async throws -> Int {
    let missing = await upkeep.run { [blobs] in
      var missing: [Digest: Int] = [:]
      blobs.files.forEachFile(in: "\(blobs.files.path)/\(prefix)") { file in
        guard let digest = Digest(hex: file.name), stored[digest]?.size != file.size else { return }
        missing[digest] = file.size
      }
      return missing
    }
    let unreferenced = Set(try await tables.unreferenced(among: Array(missing.keys)))
    var count = 0
    for (digest, size) in missing where !unreferenced.contains(digest) {
      guard try await upkeep.run({ [blobs] in try blobs.isIntact(digest) }) else { continue }
      try await blobs.uploadAgain(Blob(digest: digest, size: size))
      count += 1
    }
    return count
  }

  private func collectBlobs(
    _ stored: [Digest: S3Object], _ prefix: String, _ retention: Retention,
    _ objects: ObjectStore, _ report: inout ObjectUpkeepReport
  ) async throws {
    let notes = try await Self.digests(objects.list("orphans/\(prefix)"))
    func isOld(_ object: S3Object) -> Bool {
      Blobs.age(object.modified, at: now()) > retention.remoteBlobGrace
    }
    let orphans = try await tables.unreferenced(
      among: stored.filter { isOld($0.value) }.map(\.key))
    for digest in Set(notes.keys).subtracting(orphans) {
      try await objects.delete(Self.noteKey(digest))
    }
    for digest in orphans {
      guard let blob = stored[digest] else { continue }
      if let note = notes[digest], note.modified > blob.modified {
        guard isOld(note), try await remove(digest, objects, isOld: isOld) else { continue }
        report.blobs += 1
        report.blobBytes += blob.size
      } else {
        try await objects.put(Self.noteKey(digest), bytes: Array(digest.hex.utf8))
      }
    }
  }

  /// Removes a blob from the object store unless it is stored or referred to meanwhile.
  private func remove(
    _ digest: Digest, _ objects: ObjectStore, isOld: (S3Object) -> Bool
  ) async throws -> Bool {
    let start = ContinuousClock.now
    try await objects.put(Blobs.removalKey(digest), bytes: Array(digest.hex.utf8))
    let blob = try await objects.head(Blobs.key(digest))
    let isOrphan = try await tables.unreferenced(among: [digest]) == [digest]
    let isRemoved = blob.map(isOld) == true && isOrphan && .now - start < Self.longestDelay
    if isRemoved { try await objects.delete(Blobs.key(digest)) }
    try await objects.delete(Self.noteKey(digest))
    return isRemoved
  }

  static func noteKey(_ digest: Digest) -> String { "orphans/\(digest.hex)" }

  private static func digests(_ objects: [S3Object]) -> [Digest: S3Object] {
    Dictionary(
      objects.compactMap { object in
        object.key.split(separator: "/").last.flatMap { Digest(hex: $0) }.map { ($0, object) }
      }
    ) { first, _ in first }
  }
}
