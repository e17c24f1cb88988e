import CLinux
import FoundationEssentials
import Glibc
import Primitives
import Synchronization

/// A piece of stored content.
package struct Blob: Sendable, Hashable {
  /// The SHA-256 of the content, its name.
  package let digest: Digest
  /// The size of the content in bytes.
  package let size: Int

  /// Names content that is stored.
  package init(digest: Digest, size: Int) {
    self.digest = digest
    self.size = size
  }
}

/// Immutable content, named by its SHA-256; equal content is stored once.
///
/// An `add` returns when the content would survive a power cut and, if there is an object store, that has it. A blob that nothing refers to is kept
/// for a grace period after its last addition, so that there is time to refer to it.
package final class Blobs: Sendable {
  let files: DigestFolder
  let folder: DataFolder
  private let reserve: DiskReserve
  /// What has all blobs, if those in the data folder are a cache.
  let objects: ObjectStore?
  let now: @Sendable () -> Date
  /// Held while a blob's time is set, and while a blob is found too old and removed.
  let timestampLock = Mutex<Void>(())
  let groupCommit: GroupCommit
  let fetches = SharedWork<Digest, Result<Void, StoreError>>()
  let cacheSize = Mutex<Int?>(nil)
  let uploads = Mutex(KnownUploads())
  /// Erased content of which this process has removed what is here, with the times of the erasures.
  let erased = Mutex<[Digest: Date]>([:])
  let queue = BlockingQueue("store.blobs")

  init(
    in folder: DataFolder, reserve: DiskReserve, objects: ObjectStore? = nil,
    now: @escaping @Sendable () -> Date
  ) throws(StoreError) {
    (self.folder, self.reserve, self.objects, self.now) = (folder, reserve, objects, now)
    files = DigestFolder(path: folder.blobs, mode: DataFolder.blobMode)
    groupCommit = try GroupCommit(folder.blobs)
  }

  /// Where a blob's bytes are, whether or not it is stored.
  package func path(of digest: Digest) -> String { files.path(of: digest) }

  /// The size of a stored blob in bytes, or nil if there is no such blob.
  package func size(of digest: Digest) -> Int? {
    stat(ofFile: path(of: digest)).map { Int($0.st_size) }
  }

  /// Whether a blob's file has the blob's content; reads all of it.
  func isIntact(_ digest: Digest) throws(StoreError) -> Bool {
    try Digest(ofFile: path(of: digest)) == digest
  }

  /// Drops a blob from the page cache, for content that will not be read soon (posix_fadvise(2)).
  package func dropFromPageCache(_ digest: Digest) {
    try? StoreFile(path(of: digest), O_RDONLY | O_NOFOLLOW).dropFromPageCache()
  }

  /// Stores a copy of an open file from its beginning; the descriptor stays the caller's.
  ///
  /// Reads and writes on the calling thread, which may block; writes nothing if the file system lets files share their
  /// content. A file that changes meanwhile is stored as it was read, under the digest of what was read. More than
  /// `limit` bytes throw `tooLarge`. `isNew` is false if the content was stored before.
  package func addBlocking(
    copying descriptor: Int32, limit: Int = .max
  ) async throws -> (blob: Blob, isNew: Bool) {
    let clone = try TemporaryFile(in: folder)
    if clinux_clone(clone.file.number, descriptor) == 0 { return try await add(clone, limit) }
    clone.remove()
    var copy = try HashingWriter(in: folder)
    try StoreFile.forEachChunk(of: descriptor) { chunk throws(StoreError) in
      guard chunk.count <= limit - copy.size else { throw Self.tooLarge(limit) }
      try copy.write(chunk)
    }
    return try await add(copy.target, Blob(digest: copy.digest(), size: copy.size))
  }

  /// Stores a file of `Store.temporaryFolder`, which was written and closed, by moving it; nothing is left at `path`.
  ///
  /// Reads it once, on the calling thread, which may block, and writes nothing. Otherwise like
  /// ``addBlocking(copying:limit:)``.
  package func addBlocking(
    moving path: String, limit: Int = .max
  ) async throws -> (blob: Blob, isNew: Bool) {
    let file = try TemporaryFile(takingOver: path)
    _ = FileSystem.setModified(path, now())
    return try await add(file, limit)
  }

  private func add(
    _ file: TemporaryFile, _ limit: Int
  ) async throws -> (blob: Blob, isNew: Bool) {
    let size = Int(try file.file.status().st_size)
    guard size <= limit else { throw Self.tooLarge(limit) }
    return try await add(file, Blob(digest: file.file.digest(), size: size))
  }

  private static func tooLarge(_ limit: Int) -> StoreError {
    StoreError(.tooLarge, "the content is larger than \(limit) bytes")
  }

  /// Gives a temporary file with a blob's content its name, unless the blob is stored.
  private func add(
    _ file: TemporaryFile, _ blob: Blob
  ) async throws -> (blob: Blob, isNew: Bool) {
    // A stored file of another size was cut short by a power cut; the new one replaces it.
    let isNew = size(of: blob.digest) != blob.size || !renew(blob.digest)
    if isNew { try reserve.requireSpace() }
    if isNew { file.setModified(now()) } else { file.remove() }
    // Also for a stored blob: another request may have renamed it and not yet made the name durable.
    try await groupCommit.commit(isNew ? file : nil, as: path(of: blob.digest))
    if isNew { cacheSize.withLock { $0 = $0.map { $0 + blob.size } } }
    try await upload(blob, isNew: isNew)
    return (blob, isNew)
  }

  /// Whether content is stored; if so, its grace period starts again.
  func renew(_ digest: Digest) -> Bool {
    timestampLock.withLock { _ in FileSystem.touch(path(of: digest), now()) }
  }

  /// Keeps a blob from being collected before a reference to it is committed; throws `missing` if it is not
  /// stored.
  ///
  /// `isReferenced` tells whether something refers to it already: then the object store has it, whether or not
  /// its file is here.
  func requireRenewed(_ digest: Digest, isReferenced: () throws -> Bool) throws {
    if renew(digest) { return }
    if objects != nil, try isReferenced() { return }
    throw StoreError(.missing, "the content was removed meanwhile; try again")
  }

  /// Removes a blob that has not been added or renewed since `limit`.
  ///
  /// A caller renews a blob before it stores a reference to it: either before this, and the blob stays,
  /// or after it, and the renewal fails.
  func remove(_ digest: Digest, ifOlderThan limit: Date) -> Bool {
    timestampLock.withLock { _ in
      guard let status = stat(ofFile: path(of: digest)), status.modified < limit else {
        return false
      }
      return unlink(path(of: digest)) == 0
    }
  }
}
