import FoundationEssentials
import Glibc

extension SQLiteDatabase {
  /// The other process that has SQLite's lock for writing, such as `sqlite3 (process 4711)`.
  ///
  /// From the kernel's list (proc_locks(5)): asking for the lock itself (`F_GETLK`) would need a descriptor of the file,
  /// whose closing ends this process's own locks.
  func lockHolder() -> String? {
    guard let status = stat(ofFile: path + "-shm"),
      let locks = try? StoreFile("/proc/locks", O_RDONLY).text(limit: 1 << 20)
    else { return nil }
    let process = Self.writer(in: locks, inode: UInt64(status.st_ino), except: getpid())
    guard let process else { return nil }
    let name = try? StoreFile("/proc/\(process)/comm", O_RDONLY).text(limit: 64)
    return "\(name.map { $0.filter { !$0.isNewline } } ?? "another program") (process \(process))"
  }

  /// The byte of the index of the write-ahead log that a writer locks (`WAL_WRITE_LOCK`).
  private static let writeLock = 120

  /// The process with that lock, in a text of lines such as `1: POSIX  ADVISORY  WRITE 4711 08:01:131 120 120`.
  static func writer(in locks: String, inode: UInt64, except own: pid_t) -> pid_t? {
    for line in locks.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 8, words[1] == "POSIX" || words[1] == "OFDLCK", words[3] == "WRITE",
        let process = pid_t(words[4]), process > 0, process != own,
        words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode,
        let start = Int(words[6]), start <= writeLock,
        words[7] == "EOF" || Int(words[7]) ?? -1 >= writeLock
      else { continue }
      return process
    }
    return nil
  }
}
