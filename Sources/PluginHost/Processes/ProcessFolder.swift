import CLinux
import Dispatch
import Glibc
import Primitives
import Synchronization

/// The folder of a process: with the assets of its calls (`in`), its TMPDIR (`tmp`) and, if it is a resident
/// process, its socket.
///
/// A plugin with a user of its own owns the TMPDIR and nothing else here. The launcher makes that folder, for
/// which the group may write here, and lets the plugin's user enter `in`; others may enter this folder alone.
struct ProcessFolder: Sendable {
  let path: String
  /// Where the assets of its calls are.
  var assets: String { path + "/in" }
  private let parent: String
  private let name: String
  /// Where the process can write.
  let scratch: ScratchFolder

  /// Creates the folder below `parent`; nil if the file system refuses.
  init?(in parent: String, for user: PluginUser, _ launcher: PluginLauncher) {
    self.parent = parent
    name = "plugin-" + .randomName()
    path = "\(parent)/\(name)"
    scratch = ScratchFolder(in: path, of: user, launcher)
    guard mkdir(path, 0o700) == 0, mkdir(assets, 0o700) == 0 else { return nil }
    guard user.isDedicated else {
      if mkdir(scratch.path, 0o700) != 0 { return nil }
      return
    }
    // chmod, because the umask restricts the mode of mkdir.
    guard chmod(path, 0o731) == 0 else { return nil }
  }

  /// Removes the folder with all it holds, off the caller's thread.
  func remove() async {
    if scratch.isForeign { _ = await scratch.empty() }
    await offThread { FolderRemoval.remove(name, in: parent) }
  }
}

/// The TMPDIR of a process: the only folder where it can write.
struct ScratchFolder: Sendable {
  let path: String
  /// Whether it belongs to another user, so that only the launcher can read it.
  let isForeign: Bool
  private let parent: String
  private let user: PluginUser
  private let launcher: PluginLauncher
  private let emptiness: EmptinessCheck

  /// The name in the process's folder.
  private static let name = "tmp"

  fileprivate init(in parent: String, of user: PluginUser, _ launcher: PluginLauncher) {
    (self.parent, self.user, self.launcher) = (parent, user, launcher)
    path = "\(parent)/\(Self.name)"
    isForeign = user.isDedicated && geteuid() != 0
    emptiness = EmptinessCheck(path)
  }

  /// A regular file in the folder, opened for reading without following any link; nil if there is none.
  ///
  /// The path is as the plugin wrote it: absolute, or relative to the folder.
  func open(_ file: String) async -> FileDescriptor? {
    let relative = file.hasPrefix(path + "/") ? String(file.dropFirst(path.count + 1)) : file
    if isForeign { return await launcher.open(relative, in: path, of: user) }
    guard let folder = FileDescriptor.place(path),
      let descriptor = FileDescriptor(owning: clinux_open_beneath(folder.number, relative)),
      let status = try? descriptor.status(), status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    return descriptor
  }

  /// Removes all that is in the folder, off the caller's thread if there is something.
  ///
  /// - Returns: Whether the folder is empty now.
  func empty() async -> Bool {
    if isForeign {
      if emptiness.isUnchanged { return true }
      guard await launcher.empty(path, of: user) else { return false }
      emptiness.recordEmpty()
      return true
    }
    if emptiness.isEmpty { return true }
    return await offThread {
      FileDescriptor.place(parent).map { FolderRemoval.empty(Self.name, in: $0) } ?? false
    }
  }
}

/// Checks repeatedly whether a folder is empty: one system call as long as nothing changes in it.
private final class EmptinessCheck: Sendable {
  private let path: String
  /// Opened by the first check: before, the launcher may not have made the folder yet.
  private let folder = Mutex<FileDescriptor?>(nil)
  /// The time of the last change before the folder was seen empty, in nanoseconds since 1970.
  private let emptySince = Atomic(0)

  init(_ path: String) { self.path = path }

  /// Whether the folder is empty; resets its mode, which the plugin may have changed.
  var isEmpty: Bool {
    guard let (folder, status) = state else { return false }
    if isKnownEmpty(status) { return true }
    if status.st_mode & 0o777 != 0o700, fchmod(folder.number, 0o700) != 0 { return false }
    guard clinux_is_empty_folder(folder.number) == 1 else { return false }
    record(status)
    return true
  }

  /// Whether nothing has changed since the folder was seen empty: all that is known of another user's.
  var isUnchanged: Bool { state.map { isKnownEmpty($0.status) } ?? false }

  /// Records that the folder is empty, because the launcher says so.
  func recordEmpty() { if let status = state?.status { record(status) } }

  private var state: (folder: FileDescriptor, status: stat)? {
    let folder = folder.withLock { folder in
      folder =
        folder ?? (try? FileDescriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
        ?? FileDescriptor.place(path)
      return folder
    }
    return folder.flatMap { folder in (try? folder.status()).map { (folder, $0) } }
  }

  private func isKnownEmpty(_ status: stat) -> Bool {
    lastChange(status) == emptySince.load(ordering: .relaxed)
  }

  private func record(_ status: stat) {
    // Another change within the same tick of the file system's clock would have the same time.
    let time = lastChange(status)
    if FileStamp.isSettled(time) { emptySince.store(time, ordering: .relaxed) }
  }

  private func lastChange(_ status: stat) -> Int {
    max(FileStamp.nanoseconds(status.st_ctim), FileStamp.nanoseconds(status.st_mtim))
  }
}

/// A call's asset under a name in the process's folder, for the time of the call.
///
/// The sandbox of a process is fixed when it starts and cannot name the assets of later calls. So each is
/// linked into a folder that the process may read and not write. It never sees those of other calls.
struct AssetLink {
  /// The asset as the process finds it.
  let asset: PluginCall.Asset?

  /// Links an asset, or copies it if the folder is on another file system.
  ///
  /// - Throws: ``PluginError/Code/busy`` if the file system refuses.
  init(_ original: PluginCall.Asset?, in folder: ProcessFolder) throws(PluginError) {
    guard var linked = original, let original else {
      asset = nil
      return
    }
    linked.path = "\(folder.assets)/" + .randomName()
    asset = linked
    if link(original.path, linked.path) == 0 { return }
    guard (try? AssetLink.copy(original.path, to: linked.path)) != nil else {
      // What there was space for.
      unlink(linked.path)
      throw .busy("The asset cannot be passed to the plugin.")
    }
  }

  /// Removes the name.
  func remove() {
    if let asset { unlink(asset.path) }
  }

  private static func copy(_ source: String, to target: String) throws(Errno) {
    let input = try FileDescriptor(source, O_RDONLY)
    let output = try FileDescriptor(target, O_WRONLY | O_CREAT | O_EXCL, mode: 0o444)
    // Again, without the umask: a plugin with a user of its own reads it as "other".
    fchmod(output.number, 0o444)
    while true {
      let piece = try input.readSome(limit: 1 << 16)
      if piece.isEmpty { return }
      try output.write(piece)
    }
  }
}

/// Runs `body`, which blocks, on a thread of Dispatch.
func offThread<R: Sendable>(
  _ priority: DispatchQoS.QoSClass = .utility, _ body: @escaping @Sendable () -> R
) async -> R {
  await withCheckedContinuation { continuation in
    DispatchQueue.global(qos: priority).async { continuation.resume(returning: body()) }
  }
}
