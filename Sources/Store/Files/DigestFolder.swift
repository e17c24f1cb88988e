import FoundationEssentials
import Glibc

/// A folder of files named by digests, fanned out by their first two digits: `ab/abcd…`.
struct DigestFolder: Sendable {
  let path: String
  /// The mode of its files.
  let mode: mode_t

  /// A file found on a walk.
  struct Entry {
    let path: String
    let name: String
    let size: Int
    let modified: Date
  }

  /// Where the file of that name is, whether or not there is one.
  func path(of digest: Digest) -> String {
    "\(path)/\(digest.hex.prefix(2))/\(digest.hex)"
  }

  /// Makes the folders that are missing, so that no new file has to wait for one.
  func makeFans() throws(StoreError) {
    let made = (0...255).count { fan in
      let name = String(fan, radix: 16)
      return mkdir("\(path)/\(name.count == 1 ? "0" : "")\(name)", 0o700) == 0
    }
    if made > 0 { try Folder.synchronize(path) }
  }

  /// Calls `body` with every file; one that vanishes meanwhile may be left out.
  ///
  /// A mode that an earlier version gave is put right in passing.
  func forEachFile(_ body: (Entry) throws -> Void) rethrows {
    for fan in Folder.names(in: path).sorted() {
      Self.setMode(0o700, of: "\(path)/\(fan)")
      for name in Folder.names(in: "\(path)/\(fan)") {
        let path = "\(path)/\(fan)/\(name)"
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
        if status.permissions != mode { chmod(path, mode) }
        try body(
          Entry(path: path, name: name, size: Int(status.st_size), modified: status.modified))
      }
    }
  }

  private static func setMode(_ mode: mode_t, of path: String) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
    if status.permissions != mode { chmod(path, mode) }
  }
}

extension stat {
  /// When the file's content, or its use, was last noted.
  var modified: Date {
    Date(timeIntervalSince1970: Double(st_mtim.tv_sec) + Double(st_mtim.tv_nsec) / 1e9)
  }
}
