import FoundationEssentials
import Glibc
import Synchronization

/// The plugins' stored answers, by key: a cache that may be deleted at any time.
///
/// `renditions/ab/<key>` holds the bytes and `<key>.head` what to say about them. Neither waits for
/// the disk: the head has the bytes' digest, which is compared when the rendition is first asked for
/// after a start, so that one that a power cut left half-written is none.
package final class Renditions: Sendable {
  let folder: DataFolder
  let files: DigestFolder
  private let now: @Sendable () -> Date
  private let known = Mutex<[Digest: Rendition]>([:])
  let bytes = Mutex(0)
  let disk = DiskQueue("store.renditions")
  /// Held while the two names of a rendition appear or vanish.
  let names = Mutex<Void>(())

  /// As many descriptions are kept in memory; then all are read anew from the disk.
  private static let knownLimit = 10_000
  /// Use is written down, as the file's time, not more often than this, in seconds.
  static let renewal = 10.0

  init(in folder: DataFolder, now: @escaping @Sendable () -> Date) {
    self.folder = folder
    self.now = now
    files = DigestFolder(path: folder.renditions, mode: 0o600)
  }

  /// The rendition stored under a key, or nil; one system call when it was asked for before, else
  /// its bytes are read once.
  package func rendition(_ key: Digest) -> Rendition? {
    let remembered = known.withLock { $0[key] }
    guard let rendition = remembered ?? stored(key) else { return nil }
    var status = stat()
    guard stat(rendition.path, &status) == 0, Int(status.st_size) == rendition.size,
      remembered != nil || rendition.isWhole
    else {
      forget(key)
      return nil
    }
    if remembered == nil { remember(rendition, key) }
    let moment = now()
    if moment.timeIntervalSince(status.modified) > Self.renewal {
      _ = Folder.note(moment, on: rendition.path)
    }
    return rendition
  }

  /// Their bytes on the disk: as the last collection left them, and what was stored since.
  package var size: Int { bytes.withLock { $0 } }

  /// Stores a file of `Store.temporaryFolder` by taking it over; nothing is left at `file`.
  ///
  /// Of several answers for one key the first stays, and is returned. Line breaks in the content
  /// type or a field are refused.
  package func store(
    _ key: Digest, taking file: String, contentType: String, fields: [Rendition.Field] = []
  ) async throws -> Rendition {
    try await disk.run { [self] in
      defer { unlink(file) }
      let descriptor = try Descriptor(file, O_RDONLY | O_NOFOLLOW)
      var digest = RunningDigest()
      try descriptor.read { piece throws(StoreError) in digest.add(piece) }
      let rendition = Rendition(
        path: path(of: key), contentType: contentType, size: Int(try descriptor.status().st_size),
        digest: digest.finish(), fields: fields, created: now().wholeSeconds)
      return try publish(rendition, key: key, file: file)
    }
  }

  /// Stores bytes from memory under a key, like `store(_:taking:contentType:fields:)`.
  package func store(
    _ key: Digest, bytes: [UInt8], contentType: String, fields: [Rendition.Field] = []
  ) async throws -> Rendition {
    try await disk.run { [self] in
      var body = try TemporaryFile(in: folder)
      try body.write(bytes)
      let rendition = Rendition(
        path: path(of: key), contentType: contentType, size: body.size, digest: body.finish(),
        fields: fields, created: now().wholeSeconds)
      return try publish(rendition, key: key, file: body.path)
    }
  }

  /// Forgets a rendition and removes what there is of it, unless it was used meanwhile.
  @discardableResult
  func forget(_ key: Digest, ifUnusedSince moment: Date = .distantFuture) -> Bool {
    names.withLock { _ in
      var status = stat()
      if stat(path(of: key), &status) == 0, status.modified >= moment { return false }
      known.withLock { $0[key] = nil }
      unlink(path(of: key) + ".head")
      unlink(path(of: key))
      return true
    }
  }

  func path(of key: Digest) -> String {
    files.path(of: key)
  }

  private func publish(
    _ rendition: Rendition, key: Digest, file: String
  ) throws(StoreError) -> Rendition {
    guard rendition.isWritable else {
      throw StoreError(.failed, "an answer's fields must not hold line breaks")
    }
    if let first = self.rendition(key) { return first }
    var head = try TemporaryFile(in: folder)
    try head.write(Array(rendition.head.utf8))
    return try names.withLock { _ throws(StoreError) in
      if let first = stored(key), first.hasBody { return first }
      _ = Folder.note(now(), on: file)
      try Folder.rename(file, to: rendition.path)
      try Folder.rename(head.path, to: rendition.path + ".head")
      remember(rendition, key)
      bytes.withLock { $0 += rendition.size + head.size }
      return rendition
    }
  }

  /// What a head on the disk says, whether or not the bytes are there.
  func stored(_ key: Digest) -> Rendition? {
    guard let head = try? Descriptor(path(of: key) + ".head", O_RDONLY | O_NOFOLLOW),
      let text = try? head.text(limit: 1 << 16)
    else { return nil }
    return Rendition(path: path(of: key), head: text)
  }

  private func remember(_ rendition: Rendition, _ key: Digest) {
    known.withLock { known in
      if known.count >= Self.knownLimit { known = [:] }
      known[key] = rendition
    }
  }
}

extension Date {
  /// The moment without its fraction of a second, as HTTP writes it.
  fileprivate var wholeSeconds: Date {
    Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down))
  }
}
