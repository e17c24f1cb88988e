import Glibc
import Synchronization

/// The plugins in the operator's folder, looked up by exact name and read again when they change.
///
/// inotify tells that something changed, and the files' stamps what. Once in a second the stamps are
/// asked anyway, for changes that inotify does not see (another machine's, or through mapped memory).
final class PluginFolder: Sendable {
  private struct Entry {
    let plugin: Plugin
    /// Everything the entry was made of, as it looked then; empty when it may still be changing.
    let stamps: [FileStamp]
    var trust: Trust
  }

  /// Since when, and after how many changes, the stamps were right.
  private struct Trust {
    var change = 0
    var time = ContinuousClock.now

    func holds(after change: Int) -> Bool { self.change == change && .now - time < .seconds(1) }
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var changes = 0
  }

  private let path: String
  private let binaries: String?
  private let ceiling: Manifest.Limits
  private let state = Mutex(State())
  /// Tells of changes in the folder and in what the plugins consist of.
  let watch = ChangeWatch()

  init(path: String, binaries: String?, ceiling: Manifest.Limits) {
    self.path = path
    self.binaries = binaries
    self.ceiling = ceiling
    watch.add(path)
  }

  /// Looks what inotify has to tell; what was known is asked again then.
  private func noticeChanges() -> Int {
    state.withLock { state in
      if watch.hasChanged { state.changes += 1 }
      return state.changes
    }
  }

  /// The plugin of a rich type, current to the moment; nil when there is none.
  func plugin(_ name: String) -> Plugin? {
    let trust = Trust(change: noticeChanges())
    if let known = state.withLock({ $0.entries[name] }), !known.stamps.isEmpty {
      if known.trust.holds(after: trust.change) { return known.plugin }
      if known.stamps.allSatisfy(\.isCurrent) {
        state.withLock { $0.entries[name]?.trust = trust }
        return known.plugin
      }
    }
    guard Plugin.isName(name) else { return nil }
    let entry = read(name, trust)
    return state.withLock { state in
      // Read anew and found the same, it stays the object that everybody knows.
      let known = state.entries[name].flatMap { $0.plugin == entry?.plugin ? $0.plugin : nil }
      state.entries[name] = entry.map {
        Entry(plugin: known ?? $0.plugin, stamps: $0.stamps, trust: $0.trust)
      }
      return state.entries[name]?.plugin
    }
  }

  /// All plugins by name, the broken ones with their problem.
  func plugins() -> [Plugin] {
    FolderListing.texts(in: path).sorted().compactMap(plugin)
  }

  private func read(_ name: String, _ trust: Trust) -> Entry? {
    guard let stamp = FileStamp("\(path)/\(name)") else { return nil }
    if stamp.isFolder { return readFolder(name, at: stamp.path, trust) }
    guard stamp.isRegularFile else { return nil }
    let problem = stamp.isExecutable ? nil : "\(stamp.path) is not executable (chmod +x)"
    return makeEntry(
      name, manifest: Manifest(), executable: stamp.path, folder: path, roots: [stamp.path],
      problem: problem, trust)
  }

  private func readFolder(
    _ name: String, at folder: String, _ trust: Trust
  ) -> Entry? {
    watch.add(folder)  // before it is read: what comes meanwhile is heard of
    var manifest = Manifest()
    var problem: String?
    let file = "\(folder)/plugin.json"
    if let json = Descriptor(open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK))?.contents(
      atMost: 65_536)
    {
      do throws(ManifestReader.Fault) {
        manifest = try ManifestReader.manifest(json: json, name: name, ceiling: ceiling)
      } catch {
        problem = "\(file): \(error.reason)"
      }
    }
    let fileName = manifest.executable ?? name
    let places = [folder] + (binaries.map { [$0] } ?? [])
    let found = places.lazy.compactMap { FileStamp("\($0)/\(fileName)") }
      .first { $0.isRegularFile }
    let executable = found?.path ?? "\(folder)/\(fileName)"
    if found == nil {
      problem = problem ?? "its executable \(fileName) is missing"
    } else if found?.isExecutable == false {
      problem = problem ?? "\(executable) is not executable (chmod +x)"
    }
    // A folder with neither is somebody's folder, and no plugin.
    if found == nil, access(file, F_OK) != 0 { return nil }
    let isElsewhere = executable != "\(folder)/\(fileName)"
    return makeEntry(
      name, manifest: manifest, executable: executable, folder: folder,
      roots: [folder] + (isElsewhere ? [executable] : []), problem: problem, trust)
  }

  private func makeEntry(
    _ name: String, manifest: Manifest, executable: String, folder: String, roots: [String],
    problem: String?, _ trust: Trust
  ) -> Entry {
    var problem = problem
    var inventory: Inventory?
    do throws(ManifestReader.Fault) {
      inventory = try Inventory(roots: roots)
    } catch {
      problem = problem ?? error.reason
    }
    if problem == nil, let stamp = openToAll(inventory?.stamps ?? []) {
      problem = "every user of this machine can change \(stamp.path) (chmod o-w \(stamp.path))"
    }
    let plugin = Plugin(
      richType: name, manifest: manifest, executable: executable,
      interpreter: PluginFolder.interpreter(of: executable), folder: folder, roots: roots,
      identity: inventory?.identity ?? "", problem: problem)
    let stamps = inventory?.stamps ?? []
    for stamp in stamps { watch.add(stamp.isFolder ? stamp.path : stamp.parent) }
    let isSettled = problem == nil && stamps.allSatisfy(\.isSettled)
    return Entry(plugin: plugin, stamps: isSettled ? stamps : [], trust: trust)
  }

  /// The first of a plugin's files and folders, or of the folders around them, that all users may write to.
  private func openToAll(_ stamps: [FileStamp]) -> FileStamp? {
    var all = stamps
    for folder in Set([path] + stamps.map(\.parent)).sorted() {
      all += [FileStamp(folder)].compactMap(\.self)
    }
    // Python runs what is there instead of what it was compiled from.
    for stamp in stamps where stamp.isFolder {
      all += [FileStamp("\(stamp.path)/__pycache__")].compactMap(\.self)
    }
    return all.first { $0.mode & 0o002 != 0 }
  }

  private static func interpreter(of executable: String) -> String? {
    guard let file = Descriptor(open(executable, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else {
      return nil
    }
    var line = [UInt8](repeating: 0, count: 256)
    let count = Glibc.read(file.number, &line, line.count)
    guard count > 2, line.starts(with: "#!".utf8) else { return nil }
    let text = line[2..<count].prefix { $0 != UInt8(ascii: "\n") }
    return String(decoding: text, as: UTF8.self)
  }
}
