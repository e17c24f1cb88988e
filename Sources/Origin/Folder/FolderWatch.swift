import CLinux
@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Tells when a name in the drop folder appears, is complete, or goes (inotify(7)).
final class FolderWatch: Sendable {
  /// What was seen.
  enum Sight: Sendable, Hashable {
    /// A file was closed after writing, renamed, removed, or its permissions changed.
    case name(String, in: String)
    /// A name appeared, whose bytes may still be coming.
    case begun
    /// Something that only a look at everything can tell: a new folder, or lost events.
    case everything
  }

  private let watcher: Int32
  private let path: String
  private let folders = Mutex<[Int32: String]>([:])
  private let source: any DispatchSourceRead
  private let see: @Sendable (Set<Sight>) -> Void

  /// Watches the folder at `path`; nil when the kernel has no watch left to give.
  init?(_ path: String, see: @escaping @Sendable (Set<Sight>) -> Void) {
    watcher = cinotify_open()
    guard watcher >= 0 else { return nil }
    (self.path, self.see) = (path, see)
    source = DispatchSource.makeReadSource(
      fileDescriptor: watcher, queue: DispatchQueue(label: "richpush.folder"))
    source.setEventHandler { [weak self] in self?.read() }
    source.setCancelHandler { [watcher] in close(watcher) }
    follow([])
    source.activate()
  }

  /// Watches the folders of these rich types too; those that are watched already stay.
  func follow(_ richTypes: [String]) {
    folders.withLock { folders in
      let root = cinotify_watch(watcher, path)
      if root >= 0 { folders[root] = "" }
      for richType in richTypes {
        let watch = cinotify_watch(watcher, path + "/" + richType)
        if watch >= 0 { folders[watch] = richType }
      }
    }
  }

  /// Ends the watch.
  func stop() { source.cancel() }

  private func read() {
    var sights: Set<Sight> = []
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
      while case let count = Glibc.read(watcher, buffer.baseAddress, buffer.count), count > 0 {
        sights.formUnion(self.sights(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])))
      }
    }
    if !sights.isEmpty { see(sights) }
  }

  private func sights(in bytes: UnsafeRawBufferPointer) -> Set<Sight> {
    var sights: Set<Sight> = []
    var offset = 0
    while offset + MemoryLayout<inotify_event>.size <= bytes.count {
      let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
      let start = offset + MemoryLayout<inotify_event>.size
      let end = start + Int(event.len)
      guard end <= bytes.count else { break }
      let name = String(decoding: bytes[start..<end].prefix { $0 != 0 }, as: UTF8.self)
      let folder = folders.withLock { $0[event.wd] } ?? ""
      let isWhole = event.mask & UInt32(IN_CREATE) == 0 || event.mask & Self.isFolder != 0
      if folder.isEmpty || name.isEmpty || event.mask & Self.isFolder != 0 {
        sights.insert(.everything)
      } else {
        sights.insert(isWhole ? .name(name, in: folder) : .begun)
      }
      offset = end
    }
    return sights
  }

  /// IN_ISDIR, whose type in C does not fit the mask's.
  private static let isFolder: UInt32 = 0x4000_0000
}
