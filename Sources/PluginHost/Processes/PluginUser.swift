import Glibc
import Synchronization

/// The user that a plugin's processes run as.
package enum PluginUser: Sendable, Hashable {
  /// A user ID, and the same group ID, that nothing else runs as and that owns no files but scratch.
  case own(Int)
  /// The server's own, because of this.
  case server(String)

  /// Whether it is a user of the plugin's own.
  package var isOwn: Bool {
    if case .own = self { true } else { false }
  }

  /// The ID; 0 for the server's user.
  var id: Int {
    if case .own(let id) = self { id } else { 0 }
  }
}

/// Gives each rich type a user ID of its own, where that works.
final class PluginUsers: Sendable {
  private let range: ClosedRange<Int>
  private let scratchFolder: String
  private let known = Mutex<[String: Int]>([:])

  /// - Parameters:
  ///   - range: The IDs that may be given.
  ///   - scratchFolder: Where the plugins' scratch folders are, which they must be able to enter.
  init(range: ClosedRange<Int>, scratchFolder: String) {
    (self.range, self.scratchFolder) = (range, scratchFolder)
  }

  /// The user of a plugin, as its files stand at this moment.
  ///
  /// A plugin that could not read its own files, or enter its scratch folder, runs as the server's user.
  func user(of plugin: Plugin, libraries: [String], report: SandboxReport) -> PluginUser {
    if report.level == .off { return .server("the sandbox is off") }
    guard report.uids else { return .server("the server may not change users") }
    let folders = [scratchFolder] + libraries
    let obstacle =
      folders.lazy.compactMap { OthersAccess.obstacle(to: $0, needs: 0o001) }.first
      ?? OthersAccess.obstacle(to: plugin.executable, needs: 0o005)
      ?? plugin.roots.lazy.compactMap { OthersAccess.obstacle(below: $0) }.first
    if let obstacle { return .server("other users may not enter or read \(obstacle)") }
    guard let id = id(of: plugin.richType) else {
      return .server("all user IDs of \(range.lowerBound)-\(range.upperBound) are taken")
    }
    return .own(id)
  }

  private func id(of richType: String) -> Int? {
    known.withLock { known in
      if let id = known[richType] { return id }
      let taken = Set(known.values)
      let id = range.first { !taken.contains($0) && getpwuid(uid_t($0)) == nil }
      known[richType] = id
      return id
    }
  }
}

/// What a user that owns nothing may do with files, told by their modes.
private enum OthersAccess {
  /// The first folder on the way to `path`, or itself, whose mode does not let others through.
  static func obstacle(to path: String, needs bits: mode_t) -> String? {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    var place = String(cString: real)
    var needed = bits
    while true {
      guard let stamp = FileStamp(place), stamp.mode & needed == needed else { return place }
      if place == "/" { return nil }
      place = stamp.parent.isEmpty ? "/" : stamp.parent
      needed = 0o001
    }
  }

  /// The first file or folder below `root` that others may not read.
  static func obstacle(below root: String) -> String? {
    if let obstacle = obstacle(to: root, needs: 0o004) { return obstacle }
    var waiting = [root]
    while let path = waiting.popLast() {
      guard let stamp = FileStamp(path) else { continue }
      let needed: mode_t = stamp.isFolder ? 0o005 : 0o004
      guard stamp.mode & needed == needed else { return path }
      if stamp.isFolder { waiting += Inventory.names(in: path).map { "\(path)/\($0)" } }
    }
    return nil
  }
}
