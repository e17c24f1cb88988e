import Glibc
import Primitives
import Synchronization

/// A whole file in memory, read-only: its pages are those of the page cache.
final class FileMapping: @unchecked Sendable {  // immutable memory behind an immutable pointer
  private let base: UnsafeMutableRawPointer?
  let size: Int

  /// Maps a file; nil if it cannot be opened or does not have the size.
  init?(path: String, size: Int) {
    self.size = size
    guard let file = try? FileDescriptor(path, O_RDONLY | O_NOFOLLOW),
      let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG, status.st_size == size
    else { return nil }
    guard size > 0 else {  // mmap(2) fails for an empty range
      base = nil
      return
    }
    let address = withExtendedLifetime(file) {
      mmap(nil, size, PROT_READ, MAP_SHARED, $0.number, 0)
    }
    guard let address, address != MAP_FAILED else { return nil }
    base = address
  }

  deinit { if let base { munmap(base, size) } }

  /// The bytes of a range within the file.
  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    guard let base else { return .empty }
    return UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }
}

/// A file that is kept open for sendfile(2).
final class SendfileDescriptor {
  let descriptor: FileDescriptor
  private let metrics: CacheMetrics

  /// Nil if enough files are open already.
  init?(_ descriptor: FileDescriptor, metrics: CacheMetrics) {
    guard metrics.openDescriptor() else { return nil }
    (self.descriptor, self.metrics) = (descriptor, metrics)
  }

  /// Opens the file; nil if it is missing, or enough files are open already.
  convenience init?(_ path: String, metrics: CacheMetrics) {
    guard let descriptor = try? FileDescriptor(path, O_RDONLY | O_NOFOLLOW) else { return nil }
    self.init(descriptor, metrics: metrics)
  }

  deinit { metrics.closeDescriptor() }
}

/// A content's file in memory, with the heads of its most frequent responses.
final class MappedFile {
  // The caller's object rather than an equal one, which makes later comparisons fast.
  let content: Content
  let mapping: FileMapping
  /// The heads of a 200 and a 304, without their ends.
  let okHead: UnsafeRawBufferPointer
  let notModifiedHead: UnsafeRawBufferPointer
  private let quotedETag: [UInt8]
  private let metrics: CacheMetrics
  private var file: SendfileDescriptor?
  private let response: ResponseFile?

  /// Maps the file; nil if it is missing or not of the content's size.
  init?(_ content: Content, metrics: CacheMetrics) {
    guard let mapping = FileMapping(path: content.path, size: content.size) else { return nil }
    (self.content, self.mapping, self.metrics) = (content, mapping, metrics)
    quotedETag = Array(content.quotedETag.utf8)
    response = ResponseFile.sizes.contains(content.size) ? ResponseFile() : nil
    var fields = content.representationFields
    fields["Content-Type"] = content.mediaType
    okHead = .copy(of: ResponseHead.bytes(200, fields, .length(content.size)))
    // A 304 may have the Content-Length of the 200, though not its body (RFC 9110, section 8.6).
    notModifiedHead = .copy(
      of: ResponseHead.bytes(304, content.validatorFields, .length(content.size)))
  }

  deinit {
    okHead.deallocate()
    notModifiedHead.deallocate()
  }

  /// The file, opened if it was not; nil if it is missing, or enough files are open already.
  func opened() -> SendfileDescriptor? {
    if file == nil { file = SendfileDescriptor(content.path, metrics: metrics) }
    return file
  }

  /// A whole 200 with this end of its head, in a file; nil unless that is cheaper to send.
  func response(endingHeadWith end: [UInt8], at second: Int) -> SendfileDescriptor? {
    response?.file(at: second, okHead, end, mapping, path: content.path, metrics: metrics)
  }

  /// A part of the file, sent from memory or, if wanted and possible, by sendfile(2).
  func part(_ range: Range<Int>, streamed: Bool) -> OutputQueue.Piece {
    guard streamed, let file = opened() else { return .mapped(mapping, range) }
    return .file(file, range)
  }

  /// Whether If-None-Match has just this content's tag, as a cache sends it.
  func matches(_ ifNoneMatch: UnsafeRawBufferPointer) -> Bool {
    ifNoneMatch.isEqual(to: quotedETag)
  }
}

extension UnsafeRawBufferPointer {
  /// A copy in memory that its owner must deallocate.
  // An array would be retained for each response.
  static func copy(of bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    memory.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(memory)
  }
}

/// The mapped files of one event loop, bounded by their bytes and their number.
///
/// Like `GenerationalCache` of Primitives, which counts entries only: a file that is used moves to
/// the young generation; when that has half of the limit, the old one is dropped.
final class MappedFileCache {
  private struct Generation {
    var indexes: [Content: Int] = [:]
    var files: [MappedFile] = []
    var bytes = 0
  }

  /// Where a file is found without a look-up, until the next generation.
  struct Place {
    fileprivate let generation: Int32
    fileprivate let index: Int32

    /// No file is here.
    static let nowhere = Place(generation: -1, index: 0)
  }

  // Only the loop's thread uses it: to look for overlapping accesses would cost more than to find an entry.
  @exclusivity(unchecked) private var young = Generation()
  private var old = Generation()
  /// The number of the young generation.
  private var generation: Int32 = 0
  private let generationBytes: Int
  private let generationFiles: Int
  private let metrics: CacheMetrics

  init(bytes: Int, files: Int, metrics: CacheMetrics = CacheMetrics()) {
    self.metrics = metrics
    generationBytes = bytes / 2
    generationFiles = files / 2
  }

  var bytes: Int { young.bytes + old.bytes }
  var files: Int { young.indexes.count + old.indexes.count }

  /// The content's file, mapped if it was not; nil if the file is missing or its size differs.
  subscript(_ content: Content) -> MappedFile? {
    if let index = young.indexes[content] { return young.files[index] }
    let known = old.indexes.removeValue(forKey: content).map { old.files[$0] }
    if known != nil { old.bytes -= content.size }
    guard let file = known ?? MappedFile(content, metrics: metrics) else { return nil }
    insert(file, for: content, isNew: known == nil)
    return file
  }

  /// The file at a place; nil if it must be looked up again.
  subscript(_ place: Place) -> MappedFile? {
    place.generation == generation ? young.files[Int(place.index)] : nil
  }

  /// The place of a content's file, which was just looked up; nowhere if it is too large to be kept.
  func place(of content: Content) -> Place {
    young.indexes[content].map { Place(generation: generation, index: Int32($0)) } ?? .nowhere
  }

  private func insert(_ file: MappedFile, for content: Content, isNew: Bool) {
    guard content.size <= generationBytes, generationFiles > 0 else { return }
    if young.bytes + content.size > generationBytes || young.files.count >= generationFiles {
      metrics.evict(old.indexes.count, old.bytes)
      old = young
      young = Generation()
      generation &+= 1
    }
    young.indexes[content] = young.files.count
    young.files.append(file)
    young.bytes += content.size
    if isNew { metrics.add(content.size) }
  }
}

/// Counts what the file caches of all event loops hold.
package final class CacheMetrics: Sendable {
  /// The counts at one moment.
  package struct Snapshot: Sendable {
    /// Mapped bytes; a file counts once for each thread that serves it.
    package var bytes = 0
    /// Mapped files, each without a descriptor.
    package var files = 0
    /// Files that are also open, for sendfile(2).
    package var descriptors = 0
    /// Files evicted since the server started.
    package var evicted = 0

    /// All zero.
    package init() {}
  }

  private let descriptorLimit: Int
  private let counts = Mutex(Snapshot())

  init(descriptorLimit: Int = 256) { self.descriptorLimit = descriptorLimit }

  var snapshot: Snapshot { counts.withLock { $0 } }

  func add(_ bytes: Int) {
    counts.withLock { ($0.files, $0.bytes) = ($0.files + 1, $0.bytes + bytes) }
  }

  /// Counts one more descriptor; false at the limit.
  func openDescriptor() -> Bool {
    counts.withLock { counts in
      guard counts.descriptors < descriptorLimit else { return false }
      counts.descriptors += 1
      return true
    }
  }

  func closeDescriptor() { counts.withLock { $0.descriptors -= 1 } }

  func evict(_ files: Int, _ bytes: Int) {
    counts.withLock {
      ($0.files, $0.bytes) = ($0.files - files, $0.bytes - bytes)
      $0.evicted += files
    }
  }
}
