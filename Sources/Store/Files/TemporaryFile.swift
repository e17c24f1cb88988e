import FoundationEssentials
import Glibc

/// A new file in `tmp/`: it gets its real name when it is whole, or vanishes with its owner.
struct TemporaryFile: ~Copyable {
  let path: String
  private let descriptor: Descriptor
  private var digest = RunningDigest()
  private(set) var size = 0

  init(in folder: DataFolder) throws(StoreError) {
    path = folder.temporaryPath()
    descriptor = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL)
  }

  // After a rename there is nothing at the temporary path, and nothing to remove.
  deinit { unlink(path) }

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

  /// Returns once the bytes would survive a power cut.
  func synchronize() throws(StoreError) {
    try descriptor.synchronize(path: path)
  }

  /// Gives the file its real name and a time; bytes and name would survive a power cut.
  func rename(to target: String, notedAt moment: Date) throws(StoreError) {
    _ = Folder.note(moment, on: path)
    try synchronize()
    try Folder.renameDurably(path, to: target)
  }
}
