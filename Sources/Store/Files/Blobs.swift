import FoundationEssentials
import Glibc
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

/// Immutable content, named by its SHA-256: what is stored twice is there once.
///
/// An addition has reached the disk when it returns. A blob nobody refers to is kept for a grace
/// time after its last addition, so that there is time to refer to it.
package final class Blobs: Sendable {
  let folder: DataFolder
  let files: DigestFolder
  let now: @Sendable () -> Date
  /// Held while a blob's age is renewed, or found too old and the blob removed.
  let ages = Mutex<Void>(())
  private let disk = DiskQueue("store.blobs")
  private let sync: GroupSync

  init(in folder: DataFolder, now: @escaping @Sendable () -> Date) throws(StoreError) {
    self.folder = folder
    self.now = now
    files = DigestFolder(path: folder.blobs, mode: DataFolder.blobMode)
    sync = try GroupSync(folder.blobs)
  }

  /// Where a blob's bytes are, whether or not it is stored.
  package func path(of digest: Digest) -> String {
    files.path(of: digest)
  }

  /// The size of a stored blob in bytes, or nil when there is no such blob.
  package func size(of digest: Digest) -> Int? {
    var status = stat()
    return stat(path(of: digest), &status) == 0 ? Int(status.st_size) : nil
  }

  /// Leaves a blob to the disk: its bytes are not kept in the system's memory (posix_fadvise(2)).
  package func leaveToDisk(_ digest: Digest) {
    try? Descriptor(path(of: digest), O_RDONLY | O_NOFOLLOW).leaveToDisk()
  }

  /// Stores bytes from memory.
  package func add(bytes: [UInt8]) async throws -> Blob {
    let written = try await disk.run { [self] in
      var file = try TemporaryFile(in: folder)
      try file.write(bytes)
      return examined(file.written())
    }
    return try await keep(written).blob
  }

  /// Stores a copy of an open file from its beginning; the descriptor stays the caller's.
  ///
  /// A file that changes meanwhile is stored as it was read, under the digest of what was read.
  /// More than `limit` bytes throw `tooLarge`.
  package func add(copying descriptor: Int32, limit: Int = .max) async throws -> Blob {
    let written = try await disk.run { [self] in try copy(of: descriptor, limit) }
    return try await keep(written).blob
  }

  /// The same for callers whose thread may wait for the disk; also tells whether the content is new.
  package func addHere(
    copying descriptor: Int32, limit: Int
  ) async throws -> (blob: Blob, isNew: Bool) {
    try await keep(copy(of: descriptor, limit))
  }

  /// Stores a file of `temporaryFolder` by taking it over; nothing is left at `path`.
  ///
  /// Nobody may still write to the file.
  package func add(taking path: String) async throws -> Blob {
    let written = try await disk.run { [self] in
      let name = TemporaryName(path: path)
      let descriptor = try Descriptor(path, O_RDONLY | O_NOFOLLOW)
      var digest = RunningDigest()
      try descriptor.read { piece throws(StoreError) in digest.add(piece) }
      let size = Int(try descriptor.status().st_size)
      return examined(
        WrittenFile(Blob(digest: digest.finish(), size: size), name, descriptor))
    }
    return try await keep(written).blob
  }

  /// A file that may be a blob, unless the same is stored.
  private struct Candidate: Sendable {
    let file: WrittenFile
    let isStored: Bool
  }

  private func copy(of descriptor: Int32, _ limit: Int) throws(StoreError) -> Candidate {
    var file = try TemporaryFile(in: folder)
    try Descriptor.read(descriptor) { piece throws(StoreError) in
      guard piece.count <= limit - file.size else {
        throw StoreError(.tooLarge, "the content is larger than \(limit) bytes")
      }
      try file.write(piece)
    }
    return examined(file.written())
  }

  private func examined(_ file: WrittenFile) -> Candidate {
    let isStored = isStored(file.blob)
    if isStored { file.discard() } else { file.note(now()) }
    return Candidate(file: file, isStored: isStored)
  }

  private func keep(_ candidate: Candidate) async throws -> (blob: Blob, isNew: Bool) {
    let blob = candidate.file.blob
    // The one who renamed a blob that is there may not have come to the end of it.
    try await sync.name(candidate.isStored ? nil : candidate.file, path(of: blob.digest))
    return (blob, !candidate.isStored)
  }

  /// Whether content is stored, with its age renewed: it will not be collected for a while.
  func renew(_ digest: Digest) -> Bool {
    ages.withLock { _ in Folder.renew(path(of: digest), now()) }
  }

  /// Whether a blob is stored, with its age renewed.
  private func isStored(_ blob: Blob) -> Bool {
    size(of: blob.digest) == blob.size && renew(blob.digest)
  }
}
