import CLinux
@preconcurrency import Dispatch
import Glibc
import PluginHost
import Synchronization

/// Reports names that are created, completed or removed in the drop folder (inotify(7)).
final class FolderWatch: Sendable {
  /// A change.
  enum Event: Sendable, Hashable {
    /// A file was closed after writing, renamed, removed, or its permissions changed.
    case complete(PendingChanges.Location, Change)
    /// A name was created; its writer may not have closed it.
    case created(PendingChanges.Location)
    /// Another change, such as a new folder; everything must be examined.
    case unknown
    /// The kernel's queue overflowed; everything must be examined.
    case overflow
  }

  /// What has happened to a file.
  enum Change: Sendable {
    /// It came under this name.
    case renamed
    /// Its permissions or times were changed, or it was linked.
    case attributes
    /// Anything else.
    case other
  }

  private let watcher: Int32
  private let path: String
  private let folders = Mutex<[Int32: String]>([:])
  private let source: any DispatchSourceRead
  private let report: @Sendable ([Event]) -> Void

  /// Watches the folder at `path`; nil if the limit of inotify instances is reached.
  init?(_ path: String, report: @escaping @Sendable ([Event]) -> Void) {
    watcher = cinotify_open()
    guard watcher >= 0 else { return nil }
    (self.path, self.report) = (path, report)
    source = DispatchSource.makeReadSource(
      fileDescriptor: watcher, queue: DispatchQueue(label: "richpush.folder"))
    source.setEventHandler { [weak self] in self?.read() }
    source.setCancelHandler { [watcher] in close(watcher) }
    source.activate()
  }

  /// Watches the folder, and then the folders in it that the closure lists; false if one cannot be
  /// watched.
  ///
  /// In rich types' folders each name is reported, elsewhere only that something changed.
  func watch(_ list: () -> [String]) -> Bool {
    // Listed afterwards, and again after each: a folder is not reported if the one around it was not
    // watched yet when it was made.
    var (isWhole, seen) = (watch(""), Set<String>())
    while case let new = Set(list()).subtracting(seen), !new.isEmpty {
      for inner in new { isWhole = watch(inner) && isWhole }
      seen.formUnion(new)
    }
    return isWhole
  }

  private func watch(_ inner: String) -> Bool {
    folders.withLock { folders in
      let watch = cinotify_watch(watcher, inner.isEmpty ? path : path + "/" + inner)
      if watch >= 0 { folders[watch] = inner }
      return watch >= 0
    }
  }

  /// Ends the watch.
  func stop() { source.cancel() }

  private func read() {
    var events: [Event] = []
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
      while case let count = Glibc.read(watcher, buffer.baseAddress, buffer.count), count > 0 {
        events += self.events(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
    if !events.isEmpty { report(events) }
  }

  private func events(in bytes: UnsafeRawBufferPointer) -> [Event] {
    var events: [Event] = []
    var offset = 0
    while offset + MemoryLayout<inotify_event>.size <= bytes.count {
      let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
      let start = offset + MemoryLayout<inotify_event>.size
      let end = start + Int(event.len)
      guard end <= bytes.count else { break }
      events.append(change(event, name: Array(bytes[start..<end].prefix { $0 != 0 })))
      offset = end
    }
    return events
  }

  /// What an event of the kernel means.
  func change(_ event: inotify_event, name: [UInt8]) -> Event {
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return .overflow }
    let richType = folders.withLock { folders in
      // The kernel ended this watch and may reuse its number.
      event.mask & UInt32(IN_IGNORED) == 0
        ? folders[event.wd] : folders.removeValue(forKey: event.wd)
    }
    guard let richType, Plugin.isValidName(richType), richType != DropFolder.publishFolderName,
      !name.isEmpty
    else { return .unknown }
    let location = PendingChanges.Location(richType: richType, entry: FolderEntry(name))
    let isNew = event.mask & UInt32(IN_CREATE) != 0 && event.mask & Self.isFolder == 0
    if isNew { return .created(location) }
    return .complete(
      location,
      event.mask & UInt32(IN_MOVED_TO) != 0
        ? .renamed : event.mask & UInt32(IN_ATTRIB) != 0 ? .attributes : .other)
  }

  /// IN_ISDIR, whose type in C does not fit the mask's.
  private static let isFolder: UInt32 = 0x4000_0000
}
