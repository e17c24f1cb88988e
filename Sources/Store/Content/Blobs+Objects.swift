import FoundationEssentials
import Glibc
import Primitives
import S3
import Synchronization

/// When blobs were found to be in the object store, or were stored there.
struct KnownUploads {
  var times = GenerationalCache<Digest, Date>(capacity: 10_000)
  /// How often blobs were removed from the object store that may have been known.
  private(set) var removals = 0

  /// Forgets all.
  mutating func forget() { self = KnownUploads(removals: removals + 1) }

  init(removals: Int = 0) { self.removals = removals }
}

// The object store, if there is one, has every blob; the data folder has the recently used ones.
extension Blobs {
  /// Where the object store has a blob.
  static func key(_ digest: Digest) -> String { "blobs/\(digest.hex.prefix(2))/\(digest.hex)" }

  /// What the object store has while a blob is being removed from it, and for a while after that.
  static func removalKey(_ digest: Digest) -> String { "removing/\(digest.hex)" }

  /// A file's time is set when it is used, at most once in this many seconds.
  private static let useInterval = 30.0
  /// A blob in the object store that is older is stored again before it is referred to, in seconds.
  static let freshness = 12 * 3600.0
  /// For so many seconds nothing is asked of a blob that the object store was found to have.
  private static let uploadValidity = 3600.0
  /// A new blob of at most this size is stored without asking whether the object store has it.
  private static let smallSize = 1 << 20
  /// So many seconds after it was announced, a removal is over.
  static let longestRemoval = 120
  /// The most bytes of a blob whose size is not known.
  private static let largest = 1 << 30

  /// Whether a blob's file is in the data folder; always, without an object store.
  ///
  /// If it is, it stays for at least a minute and a half.
  package func isLocal(_ digest: Digest, size: Int) -> Bool {
    guard objects != nil else { return true }
    guard let status = stat(ofFile: path(of: digest)), status.st_size == size else { return false }
    return now().timeIntervalSince(status.modified) < Self.useInterval || renew(digest)
  }

  /// Returns once a blob's file is in the data folder, if need be from the object store; the file then stays
  /// for at least a minute and a half.
  ///
  /// - Throws: `away`, or `missing` or `damaged` if the object store does not have it.
  package func fetch(_ digest: Digest, size: Int) async throws(StoreError) {
    guard let objects else { return }
    if isLocal(digest, size: size) { return objects.count(\.blobHits) }
    objects.count(\.blobMisses)
    try await fetches.run(digest) { [self] () async throws(StoreError) in
      if isLocal(digest, size: size) { return }
      // Bytes may change on the way; twice is another cause.
      if try await fetchOnce(digest, size, from: objects) { return }
      if try await fetchOnce(digest, size, from: objects) { return }
      objects.count(\.damaged)
      throw StoreError(.damaged, "the content \(digest) is damaged in the object store")
    }
  }

  /// False if the bytes are not the blob's.
  private func fetchOnce(
    _ digest: Digest, _ size: Int, from objects: ObjectStore
  ) async throws(StoreError) -> Bool {
    let copy = try TemporaryFile(in: folder)
    guard
      try await objects.get(
        Self.key(digest), to: copy.file.descriptor, size: size, limit: size)
    else { throw StoreError(.missing, "the content \(digest) is not in the object store") }
    let isIntact = try await queue.run { () throws(StoreError) in
      try copy.file.digest() == digest
    }
    guard isIntact else { return false }
    copy.setModified(now())
    do { try await groupCommit.commit(copy, as: path(of: digest)) } catch {
      throw error as? StoreError ?? StoreError(.failed, "the content \(digest) cannot be stored")
    }
    cacheSize.withLock { $0 = $0.map { $0 + size } }
    return true
  }

  /// Returns once the object store has a blob whose file is here, and keeps it for hours at least.
  ///
  /// `isNew` tells that probably no node has stored it before.
  func upload(_ blob: Blob, isNew: Bool = false) async throws(StoreError) {
    guard let objects else { return }
    let start = now()
    let (time, removals) = uploads.withLock { ($0.times.value(for: blob.digest), $0.removals) }
    if let time, 0..<Self.uploadValidity ~= start.timeIntervalSince(time) { return }
    if isNew, blob.size <= Self.smallSize {
      try await put(blob, objects)
    } else {
      let stored = try await objects.head(Self.key(blob.digest))
      if stored?.size != blob.size || Self.age(stored?.modified ?? 0, at: start) > Self.freshness {
        try await put(blob, objects)
      }
    }
    try await outlastRemoval(of: blob, objects)
    // What was removed meanwhile may be this one.
    uploads.withLock { if $0.removals == removals { $0.times.insert(start, for: blob.digest) } }
  }

  /// Returns if the object store has a blob to which something is about to refer, or is away: then it has all blobs but
  /// those from before it was first used.
  ///
  /// Uploads one that is only here. Throws `missing` if it may be only on another node.
  package func ensureUploaded(_ blob: Blob) async throws(StoreError) {
    guard let objects else { return }
    do throws(StoreError) {
      if size(of: blob.digest) == blob.size { return try await upload(blob) }
      guard try await objects.head(Self.key(blob.digest))?.size == blob.size else {
        throw StoreError(
          .missing, "the content \(blob.digest) is not in the object store yet; try again")
      }
    } catch { if error.code != .away { throw error } }
  }

  /// Returns if no removal of the blob that the object store has now may still be under way.
  ///
  /// A node that removes a blob announces the removal first, and looks at its age after that (`ObjectUpkeep`): either that
  /// sees the new blob, or the announcement is seen here. Both times are of the object store's clock.
  private func outlastRemoval(
    of blob: Blob, _ objects: ObjectStore
  ) async throws(StoreError) {
    let end = objects.clock.now + objects.deadline * 2
    while let removal = try await objects.head(Self.removalKey(blob.digest)) {
      let stored = try await objects.head(Self.key(blob.digest))
      if let stored, stored.modified - removal.modified > Self.longestRemoval { return }
      guard objects.clock.now + .seconds(1) < end else {
        throw StoreError(.busy, "the same content is being removed; try again")
      }
      try? await objects.clock.sleep(for: .seconds(1))
      try await put(blob, objects)
    }
  }

  /// Uploads a blob that the object store does not have, whatever was known of it.
  func uploadAgain(_ blob: Blob) async throws(StoreError) {
    uploads.withLock { $0.times.remove(blob.digest) }
    try await upload(blob)
  }

  /// Reads a blob in the object store and compares it with its digest.
  ///
  /// - Throws: `missing` or `damaged`.
  func verifyObject(_ digest: Digest) async throws(StoreError) {
    guard let objects else { return }
    let copy = try TemporaryFile(in: folder)
    guard
      try await objects.get(
        Self.key(digest), to: copy.file.descriptor, size: Self.largest, limit: Self.largest)
    else { throw StoreError(.missing, "the content \(digest) is not in the object store") }
    guard try await queue.run({ () throws(StoreError) in try copy.file.digest() }) == digest else {
      throw StoreError(.damaged, "the content \(digest) is damaged in the object store")
    }
  }

  /// Stores a blob whose file is here in the object store, whatever that has.
  func replaceObject(_ blob: Blob) async throws(StoreError) {
    if let objects { try await put(blob, objects) }
  }

  private func put(_ blob: Blob, _ objects: ObjectStore) async throws(StoreError) {
    let file = try StoreFile(path(of: blob.digest), O_RDONLY | O_NOFOLLOW)
    try await objects.put(
      Self.key(blob.digest), file: file.descriptor, size: blob.size, digest: blob.digest)
  }

  /// The seconds since an object was stored.
  static func age(_ modified: Int, at now: Date) -> Double {
    now.timeIntervalSince1970 - Double(modified)
  }
}

// MARK: - The cache's size

extension Blobs {
  /// The bytes of blobs in the data folder; nil until they were counted, and without an object store.
  package var cachedBytes: Int? { cacheSize.withLock { $0 } }

  /// Removes the files of the least recently used blobs until the rest fits into `limit` bytes.
  ///
  /// Keeps those used since `time`, those that are open, and those that the object store does not have, which
  /// it gets now.
  func removeLeastRecentlyUsed(
    above limit: Int, unusedSince time: Date
  ) async throws(StoreError) -> (count: Int, bytes: Int) {
    guard let objects else { return (0, 0) }
    let (total, cold) = await queue.run { [self] in
      var (total, cold) = (0, [DigestFolder.Entry]())
      files.forEachFile { file in
        total += file.size
        if file.modified < time { cold.append(file) }
      }
      return (total, cold.sorted { $0.modified < $1.modified })
    }
    cacheSize.withLock { $0 = total }
    var (count, bytes) = (0, 0)
    for file in cold {
      guard total - bytes > limit else { break }
      guard let digest = Digest(hex: file.name) else { continue }
      guard try await objects.head(Self.key(digest))?.size == file.size else {
        try await uploadAgain(Blob(digest: digest, size: file.size))
        continue
      }
      guard removeFile(digest, ifOlderThan: time) else { continue }
      count += 1
      bytes += file.size
      cacheSize.withLock { $0 = $0.map { $0 - file.size } }
    }
    return (count, bytes)
  }

  /// Removes a blob's file if nobody has used it since `limit` or has it open.
  private func removeFile(_ digest: Digest, ifOlderThan limit: Date) -> Bool {
    timestampLock.withLock { _ in
      guard let file = try? StoreFile(path(of: digest), O_RDONLY | O_NOFOLLOW),
        let status = try? file.status(), status.modified < limit,
        // A plugin that renders it has it in its folder.
        status.st_nlink == 1, !file.isOpenElsewhere
      else { return false }
      return unlink(path(of: digest)) == 0
    }
  }
}
