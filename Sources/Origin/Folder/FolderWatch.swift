import CLinux
@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Tells when a name in the drop folder appears, is complete, or goes (inotify(7)).
final class FolderWatch: Sendable {
  /// What was seen.
  enum Sight: Sendable, Hashable {
    /// A file was closed after writing, renamed, removed, or its permissions changed.
    case complete(Sightings.Place)
    /// A name appeared, whose bytes may still be coming.
    case begun(Sightings.Place)
    /// Something that only a look at everything can tell, such as a new folder.
    case everything
    /// More happened than the kernel keeps: what, only a look at everything can tell.
    case lost
  }

  private let watcher: Int32
  private let path: String
  private let folders = Mutex<[Int32: String]>([:])
  private let source: any DispatchSourceRead
  private let see: @Sendable ([Sight]) -> Void

  /// Watches the folder at `path`; nil when the kernel has no watch left to give.
  init?(_ path: String, see: @escaping @Sendable ([Sight]) -> Void) {
    watcher = cinotify_open()
    guard watcher >= 0 else { return nil }
    (self.path, self.see) = (path, see)
    source = DispatchSource.makeReadSource(
      fileDescriptor: watcher, queue: DispatchQueue(label: "richpush.folder"))
    source.setEventHandler { [weak self] in self?.read() }
    source.setCancelHandler { [watcher] in close(watcher) }
    source.activate()
  }

  /// Watches the folder and those of these rich types; false when the kernel grants not all of it.
  func follow(_ richTypes: [String]) -> Bool {
    folders.withLock { folders in
      var isWhole = true
      for richType in [""] + richTypes {
        let watch = cinotify_watch(watcher, richType.isEmpty ? path : path + "/" + richType)
        if watch >= 0 { folders[watch] = richType }
        isWhole = isWhole && watch >= 0
      }
      return isWhole
    }
  }

  /// Ends the watch.
  func stop() { source.cancel() }

  private func read() {
    var sights: [Sight] = []
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
      while case let count = Glibc.read(watcher, buffer.baseAddress, buffer.count), count > 0 {
        sights += self.sights(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
    if !sights.isEmpty { see(sights) }
  }

  private func sights(in bytes: UnsafeRawBufferPointer) -> [Sight] {
    var sights: [Sight] = []
    var offset = 0
    while offset + MemoryLayout<inotify_event>.size <= bytes.count {
      let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
      let start = offset + MemoryLayout<inotify_event>.size
      let end = start + Int(event.len)
      guard end <= bytes.count else { break }
      sights.append(sight(event, name: Array(bytes[start..<end].prefix { $0 != 0 })))
      offset = end
    }
    return sights
  }

  private func sight(_ event: inotify_event, name: [UInt8]) -> Sight {
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return .lost }
    let richType = folders.withLock { folders in
      // A watch that the kernel ended has no folder any more; its number may come back.
      event.mask & UInt32(IN_IGNORED) == 0
        ? folders[event.wd] : folders.removeValue(forKey: event.wd)
    }
    guard let richType, !richType.isEmpty, !name.isEmpty else { return .everything }
    let place = Sightings.Place(richType: richType, entry: FolderEntry(name))
    let isNew = event.mask & UInt32(IN_CREATE) != 0 && event.mask & Self.isFolder == 0
    return isNew ? .begun(place) : .complete(place)
  }

  /// IN_ISDIR, whose type in C does not fit the mask's.
  private static let isFolder: UInt32 = 0x4000_0000
}
