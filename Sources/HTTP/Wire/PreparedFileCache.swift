import Glibc
import Primitives
import Synchronization

/// A file that is open to be sent.
///
/// It is sent by sendfile(2) or read, and not mapped: of a file that is truncated, or whose disk fails, a mapping
/// would raise SIGBUS, or have zeros where there were bytes.
final class OutgoingFile: Sendable {
  let descriptor: FileDescriptor
  private let metrics: CacheMetrics?

  /// A file that is open for one response.
  init(_ descriptor: FileDescriptor) { (self.descriptor, metrics) = (descriptor, nil) }

  /// A file that is kept open; nil if enough files are.
  init?(_ descriptor: FileDescriptor, keptBy metrics: CacheMetrics) {
    guard metrics.openDescriptor() else { return nil }
    (self.descriptor, self.metrics) = (descriptor, metrics)
  }

  deinit { metrics?.closeDescriptor() }

  /// Fills the buffer from the file; false if the file has become too short for it, or cannot be read.
  func read(from start: Int, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = try? FileDescriptor.retrying {
        pread(descriptor.number, rest.baseAddress, rest.count, start + done)
      }
      guard let count, count > 0 else { return false }
      done += count
    }
    return true
  }
}

extension Content {
  /// Opens the file; nil if it is missing or not of the content's size, or no descriptor is left.
  fileprivate func opened() -> FileDescriptor? {
    guard let file = try? FileDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
      isSize(of: file)
    else { return nil }
    return file
  }

  /// Whether a file has the content's size.
  fileprivate func isSize(of file: FileDescriptor) -> Bool {
    guard let status = try? file.status() else { return false }
    return status.st_mode & S_IFMT == S_IFREG && status.st_size == size
  }
}

/// A content's file, open or in memory, with the heads of its most frequent responses.
///
/// Made by a thread that may wait for the disk, and then used by one event loop.
final class PreparedFile: @unchecked Sendable {  // its memory is not changed
  /// Files up to this size are in memory: to copy one behind its head is cheaper than a second system call.
  static let largestInMemory = 16 << 10

  // The caller's object rather than an equal one, which makes later comparisons fast.
  let content: Content
  /// The bytes of a small file; nil for others.
  let bytes: UnsafeRawBufferPointer?
  /// The heads of a 200 and a 304, without their ends.
  let okHead: UnsafeRawBufferPointer
  let notModifiedHead: UnsafeRawBufferPointer
  private let quotedETag: [UInt8]
  /// The open file; nil if its bytes are in memory.
  let file: OutgoingFile?
  /// Whether it may be kept for further responses; not if enough files are open.
  let isKept: Bool

  /// Prepares a file; nil if it is missing or not of the content's size, or cannot be read.
  ///
  /// May wait for the disk.
  init?(_ content: Content, metrics: CacheMetrics) {
    guard let file = content.opened() else { return nil }
    var bytes: UnsafeRawBufferPointer?
    if content.size <= Self.largestInMemory {
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: content.size, alignment: 1)
      guard OutgoingFile(file).read(from: 0, into: memory) else {
        memory.deallocate()
        return nil
      }
      bytes = UnsafeRawBufferPointer(memory)
    }
    let kept = bytes == nil ? OutgoingFile(file, keptBy: metrics) : nil
    (self.content, self.bytes) = (content, bytes)
    self.file = bytes == nil ? kept ?? OutgoingFile(file) : nil
    isKept = bytes != nil || kept != nil
    quotedETag = Array(content.quotedETag.utf8)
    var fields = content.representationFields
    fields["Content-Type"] = content.mediaType
    okHead = .copy(of: ResponseHead.bytes(200, fields, .length(content.size)))
    // A 304 may have the Content-Length of the 200, though not its body (RFC 9110, section 8.6).
    notModifiedHead = .copy(
      of: ResponseHead.bytes(304, content.validatorFields, .length(content.size)))
  }

  deinit {
    bytes?.deallocate()
    okHead.deallocate()
    notModifiedHead.deallocate()
  }

  /// The bytes that it holds in memory, but for its heads.
  var memory: Int { bytes?.count ?? 0 }

  /// How many files it keeps open.
  var descriptors: Int { file == nil ? 0 : 1 }

  /// Whether it still has the content; an open file may have been truncated.
  var isWhole: Bool { file.map { content.isSize(of: $0.descriptor) } ?? true }

  /// Whether it is open and was removed, so that it has no name any more.
  fileprivate var isRemoved: Bool {
    file.map { (try? $0.descriptor.status())?.st_nlink == 0 } ?? false
  }

  /// A part of the file.
  func part(_ range: Range<Int>) -> ResponseWriter.Piece {
    if let bytes { return .bytes(Array(bytes[range])) }
    return file.map { .file($0, range) } ?? .bytes([])
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

/// The prepared files of one event loop, bounded by their bytes in memory, their number and how many are open.
///
/// When it is full it is emptied: a file that is requested again is prepared again, which costs opening it.
final class PreparedFileCache {
  // Only the loop's thread uses it: to look for overlapping accesses would cost more than to find an entry.
  @exclusivity(unchecked) private var known: [Content: PreparedFile] = [:]
  private(set) var bytes = 0
  private var open = 0
  private let byteLimit: Int
  private let fileLimit: Int
  private let openLimit: Int
  private static let opening = 4
  let metrics: CacheMetrics

  /// `open` is this loop's share of the files that the server may keep open.
  init(bytes: Int, files: Int, open: Int = .max, metrics: CacheMetrics = CacheMetrics()) {
    self.metrics = metrics
    (byteLimit, fileLimit) = (bytes, files)
    // What is being opened counts as well.
    openLimit = max(1, open - Self.opening)
  }

  var files: Int { known.count }

  /// The content's file; nil if it is not prepared.
  ///
  /// It may have been truncated: see ``PreparedFile/isWhole``.
  subscript(_ content: Content) -> PreparedFile? { known[content] }

  /// Keeps a file that was prepared, in the place of an earlier one of its content.
  func insert(_ file: PreparedFile) {
    guard file.isKept, file.memory <= byteLimit, fileLimit > 0 else { return }
    if known[file.content] != nil {
      known[file.content] = file  // which has as many bytes
      return
    }
    if bytes + file.memory > byteLimit || known.count >= fileLimit
      || open + file.descriptors > openLimit
    {
      metrics.evict(known.count, bytes)
      (known, bytes, open) = ([:], 0, 0)
    }
    known[file.content] = file
    bytes += file.memory
    open += file.descriptors
    metrics.add(file.memory)
  }

  /// Whether files are kept open.
  var hasOpenFiles: Bool { open > 0 }

  /// Closes the files that were removed: an open one takes its space on the disk.
  func closeRemoved() {
    let removed = known.values.filter(\.isRemoved)
    for file in removed { known[file.content] = nil }
    open -= removed.count
    if !removed.isEmpty { metrics.evict(removed.count, 0) }
  }
}

/// Counts what the file caches of all event loops hold.
package final class CacheMetrics: Sendable {
  /// The counts at one moment.
  package struct Snapshot: Sendable {
    /// Bytes of small files in memory; a file counts once for each thread that serves it.
    package var bytes = 0
    /// Files whose responses are prepared.
    package var files = 0
    /// Those of them that are open.
    package var descriptors = 0
    /// Files evicted since the server started.
    package var evicted = 0

    /// All zero.
    package init() {}
  }

  /// How many files all event loops together keep open.
  let descriptorLimit: Int
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
