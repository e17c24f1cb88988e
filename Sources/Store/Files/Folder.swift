import FoundationEssentials
import Glibc

/// What the store does with folders and names.
enum Folder {
  /// Makes a folder unless it is there (`mkdir`), and its name durable.
  static func make(_ path: String) throws(StoreError) {
    guard mkdir(path, 0o700) != 0 else { return try synchronize(parent(of: path)) }
    guard errno == EEXIST else { throw StoreError("make the folder", path) }
  }

  /// Makes the folder that a file is to lie in unless it is there.
  static func makeParent(of path: String) throws(StoreError) {
    try make(parent(of: path))
  }

  /// Returns once the names in a folder would survive a power cut (`fsync`).
  static func synchronize(_ path: String) throws(StoreError) {
    try Descriptor(path, O_RDONLY | O_DIRECTORY).synchronize(path: path)
  }

  /// Renames a file into a folder that may have to be made first (`rename`).
  static func rename(_ source: String, to target: String) throws(StoreError) {
    guard Glibc.rename(source, target) != 0 else { return }
    guard errno == ENOENT else { throw StoreError("rename a new file to", target) }
    try makeParent(of: target)
    guard Glibc.rename(source, target) == 0 else {
      throw StoreError("rename a new file to", target)
    }
  }

  /// Renames a file like `rename(_:to:)`; its new name would survive a power cut.
  static func renameDurably(_ source: String, to target: String) throws(StoreError) {
    try rename(source, to: target)
    try synchronizeParent(of: target)
  }

  /// Returns once a file's name would survive a power cut.
  static func synchronizeParent(of path: String) throws(StoreError) {
    try synchronize(parent(of: path))
  }

  /// Notes a moment as a file's time; false when there is no such file (`utimensat`).
  static func note(_ moment: Date, on path: String) -> Bool {
    let seconds = moment.timeIntervalSince1970
    let time = timespec(
      tv_sec: Int(seconds.rounded(.down)),
      tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
    return utimensat(AT_FDCWD, path, [time, time], 0) == 0
  }

  /// Makes a moment a file's time, give or take a second; false when there is no such file.
  static func renew(_ path: String, _ moment: Date) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return abs(moment.timeIntervalSince(status.modified)) < 1 || note(moment, on: path)
  }

  /// The names in a folder without `.` and `..`; none when there is no such folder (`readdir`).
  static func names(in path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }
}
