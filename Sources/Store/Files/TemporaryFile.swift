import FoundationEssentials
import Glibc
import Synchronization

/// A new file in `tmp/`: it gets its real name when it is whole, or vanishes with its owner.
struct TemporaryFile: ~Copyable {
  private let name: TemporaryName
  private let descriptor: Descriptor
  private var digest = RunningDigest()
  private(set) var size = 0

  init(in folder: DataFolder) throws(StoreError) {
    name = TemporaryName(path: folder.temporaryPath())
    descriptor = try Descriptor(name.path, O_WRONLY | O_CREAT | O_EXCL)
  }

  var path: String { name.path }

  mutating func write(_ bytes: [UInt8]) throws(StoreError) {
    try bytes.span.bytes.withUnsafeBytes { piece throws(StoreError) in try write(piece) }
  }

  mutating func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    try descriptor.write(bytes, path: path)
    digest.add(bytes)
    size += bytes.count
  }

  /// The digest of what was written; nothing may be written after it.
  mutating func finish() -> Digest {
    digest.finish()
  }

  /// The file as content that is whole and has no name of its own yet.
  consuming func written() -> WrittenFile {
    let blob = Blob(digest: finish(), size: size)
    return WrittenFile(blob, name, descriptor)
  }
}

/// A path in `tmp/`; what lies there goes with its owner.
struct TemporaryName: ~Copyable {
  let path: String
  private let isGone = Atomic(false)

  init(path: String) { self.path = path }

  deinit { remove() }

  /// Removes what lies there, unless that was done.
  func remove() {
    if !isGone.exchange(true, ordering: .relaxed) { unlink(path) }
  }

  /// Gives what lies there its real name (`rename`).
  func rename(to target: String) throws(StoreError) {
    try Folder.rename(path, to: target)
    isGone.store(true, ordering: .relaxed)
  }
}

/// A whole file in `tmp/` whose content is known, and which may not have reached the disk.
final class WrittenFile: Sendable {
  let blob: Blob
  private let name: TemporaryName
  private let descriptor: Descriptor

  init(_ blob: Blob, _ name: consuming TemporaryName, _ descriptor: consuming Descriptor) {
    self.blob = blob
    self.name = name
    self.descriptor = descriptor
  }

  /// Removes the file now; who else holds it may let go of it later.
  func discard() { name.remove() }

  /// Makes a moment the file's time, unless that is this moment: it was just written.
  func note(_ moment: Date) {
    if abs(moment.timeIntervalSinceNow) >= 1 { _ = Folder.note(moment, on: name.path) }
  }

  /// Returns once the bytes would survive a power cut.
  func synchronize() throws(StoreError) {
    try descriptor.synchronize(path: name.path)
  }

  /// Makes the file a blob under its real name (`rename`).
  func rename(to target: String) throws(StoreError) {
    try descriptor.setMode(DataFolder.blobMode, path: name.path)
    try name.rename(to: target)
  }
}
