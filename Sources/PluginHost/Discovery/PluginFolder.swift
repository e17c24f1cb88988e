import CLinux
import Dispatch
import Glibc
import Primitives
import Synchronization

/// The plugins in the folders by exact name; a changed one is read again.
///
/// inotify reports that something changed, and the files' stamps what. Once a second the stamps are compared
/// anyway, for changes that inotify does not report (another machine's, or through mapped memory): in a server by
/// ``startChecking()``, on a thread of its own, else by the next ``plugin(_:)``.
final class PluginFolder: Sendable {
  private struct Entry {
    var plugin: Plugin
    /// The stamps of everything the plugin was made of; empty if it may still be changing.
    let stamps: [FileStamp]
    let access: PluginAccess?
    /// The paths that would take precedence if they existed.
    let precedingPaths: [String]
    /// When the stamps were last compared, and after how many changes.
    var checked: Check

    var isCurrent: Bool {
      stamps.allSatisfy(\.isCurrent) && access?.isCurrent != false
        && precedingPaths.allSatisfy { FileStamp($0) == nil }
    }
  }

  private struct Check {
    let changes: Int
    let time = ContinuousClock.now

    func isValid(after changes: Int) -> Bool {
      self.changes == changes && .now - time < PluginFolder.checkInterval
    }
  }

  private static let checkInterval = Duration.seconds(1)
  private static let checkPause = DispatchTimeInterval.seconds(1)
  private static let problemInterval = Duration.seconds(30)

  /// Such as the operator's, then the one with the plugins that ship; the first that has a name wins.
  private let folders: [String]
  private let executables: String?
  private let secretPaths: [String]
  private let entries = Mutex<[String: Entry]>([:])
  private let changes = Atomic(0)
  /// Compares the stamps once a second; nil until ``startChecking()``.
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)
  /// The queue of changes in the folders and of the plugins' files (inotify), for a poller; nil if the system
  /// has no more of them.
  let changeQueue = FileDescriptor(owning: cinotify_open())

  init(_ configuration: PluginConfiguration) {
    folders = [configuration.folder] + configuration.furtherFolders
    executables = configuration.executables
    secretPaths = configuration.sandbox == .off ? [] : configuration.secretPaths
    for folder in folders { watch(folder) }
  }

  deinit { timer.withLock { $0?.cancel() } }

  /// Reports changes of a folder from now on; nothing else can be watched.
  private func watch(_ folder: String) {
    // Also for a path that is watched already: it may be another folder now.
    if let changeQueue { _ = cinotify_watch_content(changeQueue.number, folder) }
  }

  /// How often ``noticeChanges()`` was true.
  var changeCount: Int { changes.load(ordering: .relaxed) }

  /// Whether anything has changed since the last call; must be called before plugins are looked up.
  func noticeChanges() -> Bool {
    guard let changeQueue else { return false }
    // Under the lock, so that a thread that finds the queue empty sees the count of the thread that emptied it.
    return entries.withLock { _ in
      let hasChanged = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { buffer in
        (try? changeQueue.read(into: buffer)) != nil
      }
      if hasChanged { changes.add(1, ordering: .relaxed) }
      return hasChanged
    }
  }

  /// Compares the stamps once a second from now on, so that nobody else has to.
  func startChecking() {
    timer.withLock { timer in
      guard timer == nil else { return }
      let new = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "plugins.check"))
      new.setEventHandler { [weak self] in self?.checkStamps() }
      new.schedule(deadline: .now() + Self.checkPause, repeating: Self.checkPause)
      new.activate()
      timer = new
    }
  }

  private func checkStamps() {
    for (name, known) in entries.withLock({ $0 }) where isSuspect(known) {
      _ = update(name, Check(changes: changeCount))
    }
  }

  /// Whether a plugin's files are to be read again.
  private func isSuspect(_ known: Entry) -> Bool {
    if !known.stamps.isEmpty { return !known.isCurrent }
    // Nobody waits for one with a problem, and all its files are read; most changes are reported.
    return known.plugin.problem == nil || .now - known.checked.time > Self.problemInterval
  }

  /// Whether the plugin is the version that was found last, and nothing has changed since, as far as is known.
  ///
  /// Never waits for a disk. After a change it is false until ``plugin(_:)`` has returned.
  func isCurrent(_ plugin: Plugin) -> Bool {
    entries.withLock { entries in
      guard let known = entries[plugin.richType] else { return false }
      return known.checked.changes == changeCount && known.plugin.identity == plugin.identity
    }
  }

  /// The version of a plugin that was found last; never waits for a disk.
  func lastFound(_ name: String) -> Plugin? { entries.withLock { $0[name]?.plugin } }

  /// The plugin of a rich type, current as of the changes noticed; nil if there is none.
  func plugin(_ name: String) -> Plugin? {
    let (known, changes) = entries.withLock { ($0[name], changeCount) }
    let check = Check(changes: changes)
    if let known, !known.stamps.isEmpty {
      if mayTrust(known, after: changes) { return known.plugin }
      if known.isCurrent {
        entries.withLock { $0[name]?.checked = check }
        return known.plugin
      }
    }
    return Plugin.isValidName(name) ? update(name, check) : nil
  }

  /// Reads a plugin again.
  private func update(_ name: String, _ check: Check) -> Plugin? {
    var entry = read(name, check)
    return entries.withLock { entries in
      // The same version stays the same object, so that comparisons of it are quick.
      if let known = entries[name]?.plugin {
        if known == entry?.plugin {
          entry?.plugin = known
        } else {
          // Everyone learns of the change: whatever was checked before counts no longer.
          changes.add(1, ordering: .relaxed)
        }
      }
      entries[name] = entry
      return entry?.plugin
    }
  }

  private func mayTrust(_ known: Entry, after changes: Int) -> Bool {
    if timer.withLock({ $0 != nil }) { return known.checked.changes == changes }
    return changeQueue != nil && known.checked.isValid(after: changes)
  }

  /// All plugins by name; one that cannot be used has a problem.
  func plugins() -> [Plugin] {
    let names = Set(folders.flatMap(FolderListing.texts)).sorted()
    let found = Mutex([Plugin?](repeating: nil, count: names.count))
    // At a start all of their files are read.
    DispatchQueue.concurrentPerform(iterations: names.count) { index in
      let plugin = plugin(names[index])
      found.withLock { $0[index] = plugin }
    }
    return found.withLock { $0 }.compactMap(\.self)
  }

  private func read(_ name: String, _ check: Check) -> Entry? {
    guard let stamp = folders.lazy.compactMap({ FileStamp("\($0)/\(name)") }).first else {
      return nil
    }
    if stamp.isFolder { return readFolder(name, at: stamp.path, check) }
    guard stamp.isRegularFile else { return nil }
    return makeEntry(
      name, Manifest(), executable: stamp.path, folder: stamp.parent, roots: [stamp.path],
      problem: Self.problem(of: stamp, at: stamp.path), check)
  }

  private func readFolder(_ name: String, at folder: String, _ check: Check) -> Entry? {
    watch(folder)  // before it is read, so that no change is missed
    var manifest = Manifest()
    var problem: String?
    let file = "\(folder)/plugin.json"
    let hasManifest = access(file, F_OK) == 0
    if hasManifest {
      do throws(PluginProblem) {
        manifest = try readManifest(file, name)
      } catch {
        problem = "\(file): \(error)"
      }
    }
    let fileName = manifest.executable ?? name
    let found = ([folder] + [executables].compactMap(\.self)).lazy
      .compactMap { FileStamp("\($0)/\(fileName)") }.first(where: \.isRegularFile)
    let executable = found?.path ?? "\(folder)/\(fileName)"
    // A folder of folders, or of nothing, is not meant as a plugin.
    if found == nil, !hasManifest, !holdsFiles(folder) { return nil }
    let programs = manifest.programs.compactMap { program in
      executables.flatMap { FileStamp("\($0)/\(program)") }?.path
    }
    let isElsewhere = executable != "\(folder)/\(fileName)"
    return makeEntry(
      name, manifest, executable: executable, folder: folder,
      roots: [folder] + (isElsewhere ? [executable] + programs : []),
      problem: problem ?? Self.problem(of: found, at: executable), check)
  }

  private func readManifest(_ file: String, _ name: String) throws(PluginProblem) -> Manifest {
    let limit = Manifest.maximumSize
    guard
      let json = try? FileDescriptor(file, O_RDONLY | O_NONBLOCK).readAll(limit: limit + 1),
      json.count <= limit
    else { throw PluginProblem("it cannot be read, or has more than \(limit) bytes") }
    return try Manifest(json: json, name: name, maximum: .maximum)
  }

  /// Whether a problem is that the plugin overlaps with what no plugin may read.
  static func isOverlap(_ problem: String) -> Bool {
    problem.hasSuffix(", which plugins may not read: move it")
  }

  private static func problem(of executable: FileStamp?, at path: String) -> String? {
    guard let executable else { return "its executable \(path) is missing" }
    return executable.isExecutable ? nil : "\(path) is not executable (chmod +x)"
  }

  private func holdsFiles(_ folder: String) -> Bool {
    PluginFiles.names(in: folder).contains { FileStamp("\(folder)/\($0)")?.isRegularFile == true }
  }

  private func makeEntry(
    _ name: String, _ manifest: Manifest, executable: String, folder: String, roots: [String],
    problem: String?, _ check: Check
  ) -> Entry {
    var problem = problem
    var files: PluginFiles?
    do throws(PluginProblem) {
      files = try PluginFiles(roots: roots)
    } catch {
      problem = problem ?? error.description
    }
    let access = problem == nil ? files.map { PluginAccess(of: $0, roots: roots) } : nil
    if let path = access?.firstWorldWritable {
      problem = "every user of this machine can change \(path) (chmod o-w \(path))"
    }
    let shared = secretPaths.first { secret in
      roots.contains {
        $0.realPath.isInside(secret.realPath) || secret.realPath.isInside($0.realPath)
      }
    }
    if let shared, problem == nil {
      problem = "it is in one place with \(shared), which plugins may not read: move it"
    }
    let interpreter = Interpreter(of: executable, in: folder)
    let plugin = Plugin(
      richType: name, manifest: manifest, executable: executable, interpreter: interpreter.line,
      folder: folder, roots: roots, identity: files?.identity ?? "",
      problem: problem ?? interpreter.problem)
    let stamps = files?.stamps ?? []
    let watched = stamps + (access?.hidden ?? [])
    for stamp in watched { watch(stamp.isFolder ? stamp.path : stamp.parent) }
    let isSettled = plugin.problem == nil && watched.allSatisfy(\.isSettled)
    return Entry(
      plugin: plugin, stamps: isSettled ? stamps : [], access: access,
      precedingPaths: Array(folders.map { "\($0)/\(name)" }.prefix { $0 != roots[0] }),
      checked: check)
  }
}
