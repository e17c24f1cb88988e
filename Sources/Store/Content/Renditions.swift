package import FoundationEssentials
import Glibc
import Primitives
import Synchronization

/// The outputs of plugins by key: a cache that may be deleted at any time.
///
/// `renditions/ab/<key>` holds the bytes and `<key>.head` the header. Neither is synced to the disk:
/// the header has the digest of the bytes, which is compared when a rendition is first used after a
/// start, so that one that a power cut left half-written is not found.
package final class Renditions: Sendable {
  let files: DigestFolder
  let folder: DataFolder
  private let reserve: DiskReserve
  /// Where renditions are uploaded to, if there is one.
  let objects: ObjectStore?
  /// The secret of the database from which the key of the seal is derived.
  private let secret: @Sendable () async throws -> String
  private let knownSeal = Mutex<RenditionSeal?>(nil)
  let fetches = SharedWork<Digest, Result<Rendition?, StoreError>>()
  let uploads = SharedWork<Digest, Void>()
  let uploadQueue = AdmissionQueue(width: 4, maximumWaiters: 10_000, timeout: .seconds(3600))
  private let now: @Sendable () -> Date
  private let headers = Mutex(GenerationalCache<Digest, Rendition>(capacity: headerCacheCapacity))
  private let bytes = Mutex(0)
  let queue = BlockingQueue("store.renditions")
  /// Held while the two files of a rendition are renamed or removed.
  private let renameLock = Mutex<Void>(())

  /// The number of headers in memory: about 5 MB.
  private static let headerCacheCapacity = 10_000
  /// A use is recorded as the file's time, at most once in this many seconds.
  private static let useInterval = 10.0

  /// `secret` is read only with an object store.
  init(
    in folder: DataFolder, reserve: DiskReserve, objects: ObjectStore? = nil,
    now: @escaping @Sendable () -> Date, secret: @escaping @Sendable () async throws -> String
  ) {
    (self.folder, self.reserve, self.objects) = (folder, reserve, objects)
    (self.now, self.secret) = (now, secret)
    files = DigestFolder(path: folder.renditions, mode: 0o600)
  }

  /// The seal of renditions in the object store.
  func seal() async throws(StoreError) -> RenditionSeal {
    if let known = knownSeal.withLock({ $0 }) { return known }
    do {
      let seal = RenditionSeal(secret: try await secret())
      knownSeal.withLock { $0 = seal }
      return seal
    } catch let error as StoreError {
      throw error
    } catch { throw StoreError(.failed, "\(error)") }
  }

  /// The rendition stored under a key, or nil.
  ///
  /// Costs one system call; after a start the bytes are read and compared once.
  package func rendition(_ key: Digest) -> Rendition? {
    let cached = headers.withLock { $0.value(for: key) }
    guard let rendition = cached ?? storedHeader(key) else { return nil }
    guard let status = stat(ofFile: rendition.path), status.st_size == rendition.size,
      cached != nil || rendition.isIntact
    else {
      remove(key)
      return nil
    }
    if cached == nil { headers.withLock { $0.insert(rendition, for: key) } }
    let time = now()
    if time.timeIntervalSince(status.modified) > Self.useInterval {
      _ = FileSystem.setModified(rendition.path, time)
    }
    objects?.count(\.renditionHits)
    return rendition
  }

  /// The bytes on the disk: the result of the last collection, and what was stored since.
  package var size: Int { bytes.withLock { $0 } }

  /// Stores a file of `Store.temporaryFolder` by moving it; nothing is left at `file`.
  ///
  /// If the key has a rendition already, returns that one. Throws if the content type or a field has a
  /// line break, and `full` if there is no space for a cache.
  package func store(
    _ key: Digest, moving file: String, contentType: String, fields: [Rendition.Field] = []
  ) async throws -> Rendition {
    try await publishAndUpload(key) { [self] in
      defer { unlink(file) }
      let source = try StoreFile(file, O_RDONLY | O_NOFOLLOW)
      let size = Int(try source.status().st_size)
      return try publish(
        file, describe(key, size, try source.digest(), contentType, fields), as: key)
    }
  }

  /// Stores bytes from memory under a key, like ``store(_:moving:contentType:fields:)``.
  package func store(
    _ key: Digest, bytes: [UInt8], contentType: String, fields: [Rendition.Field] = []
  ) async throws -> Rendition {
    try await publishAndUpload(key) { [self] in
      var body = try HashingWriter(in: folder)
      try body.write(bytes)
      let rendition = describe(key, body.size, body.digest(), contentType, fields)
      return try withExtendedLifetime(body.target) {
        try publish($0.path, rendition, as: key)
      }
    }
  }

  /// Removes a rendition's files, unless it has been used since `time`.
  @discardableResult
  func remove(_ key: Digest, ifUnusedSince time: Date = .distantFuture) -> Bool {
    renameLock.withLock { _ in
      if let status = stat(ofFile: path(of: key)), status.modified >= time { return false }
      headers.withLock { $0.remove(key) }
      unlink(path(of: key) + ".head")
      unlink(path(of: key))
      return true
    }
  }

  /// Removes the least recently used renditions until the rest fits into `limit` bytes.
  ///
  /// Keeps those used since `time`.
  func removeLeastRecentlyUsed(
    above limit: Int, unusedSince time: Date
  ) async -> (count: Int, bytes: Int) {
    await queue.run { [self] in
      var cold: [DigestFolder.Entry] = []
      var total = 0
      files.forEachFile { file in
        total += file.size
        if file.modified < time { cold.append(file) }
      }
      cold.sort { $0.modified < $1.modified }
      var (count, bytes) = (0, 0)
      for file in cold {
        guard let key = Digest(hex: file.name) else { continue }
        guard total - bytes > limit else { break }
        guard remove(key, ifUnusedSince: time) else { continue }
        count += 1
        bytes += file.size
      }
      self.bytes.withLock { $0 = total - bytes }
      return (count, bytes)
    }
  }

  func path(of key: Digest) -> String { files.path(of: key) }

  private func publishAndUpload(
    _ key: Digest, _ publish: @escaping @Sendable () throws -> (rendition: Rendition, isNew: Bool)
  ) async throws -> Rendition {
    try reserve.requireSpace()
    let (rendition, isNew) = try await queue.run(publish)
    if isNew { startUpload(key) }
    return rendition
  }

  private func describe(
    _ key: Digest, _ size: Int, _ digest: Digest, _ contentType: String,
    _ fields: [Rendition.Field]
  ) -> Rendition {
    Rendition(
      path: path(of: key), contentType: contentType, size: size, digest: digest, fields: fields,
      created: Date(timeIntervalSince1970: now().timeIntervalSince1970.rounded(.down)))
  }

  /// Moves a file to a rendition's path; if the key has a rendition already, returns that one.
  func publish(
    _ file: String, _ rendition: Rendition, as key: Digest
  ) throws(StoreError) -> (rendition: Rendition, isNew: Bool) {
    guard rendition.isRepresentable else {
      throw StoreError(.failed, "header fields must not hold line breaks")
    }
    if let existing = self.rendition(key) { return (existing, false) }
    let header = try TemporaryFile(in: folder)
    let text = rendition.header
    try Array(text.utf8).span.bytes.withUnsafeBytes { bytes throws(StoreError) in
      try header.file.write(bytes)
    }
    return try renameLock.withLock { _ throws(StoreError) in
      if let existing = storedHeader(key), existing.hasSize { return (existing, false) }
      _ = FileSystem.setModified(file, now())
      // The header last: a rendition without one is not found.
      try FileSystem.rename(file, to: rendition.path)
      try header.rename(to: rendition.path + ".head")
      headers.withLock { $0.insert(rendition, for: key) }
      bytes.withLock { $0 += rendition.size + text.utf8.count }
      return (rendition, true)
    }
  }

  /// The header on the disk, whether or not the bytes are there.
  func storedHeader(_ key: Digest) -> Rendition? {
    let path = path(of: key)
    guard let text = try? StoreFile(path + ".head", O_RDONLY | O_NOFOLLOW).text(limit: 1 << 16)
    else { return nil }
    return Rendition(path: path, header: text)
  }
}

/// A stored output of a plugin: the file and its metadata.
package struct Rendition: Sendable, Equatable {
  /// Where the bytes are; the file is never changed, and may be removed when it is not used.
  package let path: String
  /// The value of `Content-Type`.
  package let contentType: String
  /// The size of the file in bytes.
  package let size: Int
  /// The SHA-256 of the file.
  package let digest: Digest
  /// Further header fields for the response, in order.
  package let fields: [Field]
  /// When it was rendered, in whole seconds.
  package let created: Date

  /// A header field of a response.
  package struct Field: Sendable, Equatable {
    /// The field's name.
    package let name: String
    /// The field's value, without line breaks.
    package let value: String

    /// Names a field and its value.
    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }
}

// MARK: - The header file

extension Rendition {
  /// The metadata as text, in the form of an HTTP header.
  var header: String {
    let facts = [
      Field("Content-Type", contentType), Field("Content-Length", String(size)),
      Field("Digest", digest.hex), Field("Created", String(Int(created.timeIntervalSince1970))),
    ]
    // The empty line shows that the header is complete: a power cut may leave a part of it.
    return (facts + fields).map { "\($0.name): \($0.value)\n" }.joined() + "\n"
  }

  /// Whether ``init(path:header:)`` reads the header back as it is; false if a field has a line break.
  var isRepresentable: Bool { Rendition(path: path, header: header) == self }

  /// Whether the file exists and has the size in the header.
  var hasSize: Bool { stat(ofFile: path)?.st_size == size }

  /// Whether the file has the digest in the header; reads all of it.
  var isIntact: Bool { (try? Digest(ofFile: path)) == digest }

  /// Parses a header; nil if it is malformed or incomplete.
  init?(path: String, header: String) {
    guard header.hasSuffix("\n\n") else { return nil }
    let lines = header.split(separator: "\n").map { line in
      line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }
    guard lines.count >= 4, lines.allSatisfy({ $0.count == 2 }),
      let size = Int(lines[1][1]), let digest = Digest(hex: lines[2][1]),
      let created = Int(lines[3][1])
    else { return nil }
    self.init(
      path: path, contentType: lines[0][1], size: size, digest: digest,
      fields: lines[4...].map { Field($0[0], $0[1]) },
      created: Date(timeIntervalSince1970: Double(created)))
  }
}
