import Glibc
import Primitives
import Synchronization

/// Assigns each rich type a user ID of its own, where that works.
final class PluginUsers: Sendable {
  private let range: ClosedRange<Int>
  private let scratchFolder: String
  private let assigned = Mutex<[String: Int]>([:])

  /// - Parameters:
  ///   - range: The IDs to assign.
  ///   - scratchFolder: The folder of the processes' folders, which plugins must be able to enter.
  init(range: ClosedRange<Int>, scratchFolder: String) {
    (self.range, self.scratchFolder) = (range, scratchFolder)
  }

  /// The user of a plugin, according to the modes of its files now.
  ///
  /// A plugin that could not read its own files or enter its folder runs as the server's user.
  func user(of plugin: Plugin, _ report: SandboxReport) -> PluginUser {
    if report.level == .off { return .server(reason: "the sandbox is off") }
    guard report.uids else { return .server(reason: "the server may not change users") }
    let obstacle =
      ([scratchFolder] + SharedLibraries.folders).lazy
      .compactMap { Self.obstacle(to: $0, needing: .execute) }.first
      ?? Self.obstacle(to: plugin.executable, needing: .readExecute)
      ?? plugin.roots.lazy.compactMap { Self.obstacle(below: $0) }.first
    if let obstacle { return .server(reason: "other users may not enter or read \(obstacle)") }
    guard let id = id(of: plugin.richType) else {
      return .server(
        reason: "all user IDs of \(range.lowerBound)-\(range.upperBound) are taken")
    }
    return .dedicated(id)
  }

  private func id(of richType: String) -> Int? {
    assigned.withLock { assigned in
      if let id = assigned[richType] { return id }
      let taken = Set(assigned.values)
      let id = range.first {
        !taken.contains($0) && getpwuid(uid_t($0)) == nil && getgrgid(gid_t($0)) == nil
      }
      assigned[richType] = id
      return id
    }
  }

  /// The mode bits for users that are neither the owner nor in the group.
  private enum OthersMode: mode_t {
    case execute = 0o001
    case read = 0o004
    case readExecute = 0o005
  }

  /// The first folder on the way to `path`, or the file itself, whose mode keeps others out.
  private static func obstacle(to path: String, needing mode: OthersMode) -> String? {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    var place = String(cString: real)
    var needed = mode.rawValue
    while true {
      guard let stamp = FileStamp(place), stamp.mode & needed == needed else { return place }
      if place == "/" { return nil }
      place = stamp.parent
      needed = OthersMode.execute.rawValue
    }
  }

  /// The first file or folder in `root` that others may not read.
  private static func obstacle(below root: String) -> String? {
    if let obstacle = obstacle(to: root, needing: .read) { return obstacle }
    return FileTree(root).first { stamp in
      let needed = (stamp.isFolder ? OthersMode.readExecute : .read).rawValue
      return stamp.mode & needed != needed
    }?.path
  }
}

/// The server's own shared libraries, which its plugins need as well.
enum SharedLibraries {
  /// The folders of the libraries that this process has loaded, such as a Swift toolchain's.
  static let folders: [String] = {
    guard let bytes = try? FileDescriptor("/proc/self/maps", O_RDONLY).readAll(limit: 1 << 22)
    else { return [] }
    let paths = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      .filter { $0.hasSuffix(".so") }
      .compactMap { line in line.firstIndex(of: "/").map { line[$0...] } }
    return Set(paths.map { String($0[..<($0.lastIndex(of: "/") ?? $0.startIndex)]) })
      .filter { !$0.isEmpty }.sorted()
  }()
}
