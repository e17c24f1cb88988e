import Glibc
import Primitives

// Nodes with one database may share a drop folder, or have one each. A file in it names the folder, and so do the
// stamps of its assets: an asset is removed only if its file is missing in the folder that it came from.
extension DropFolder {
  /// What the names of folders begin with.
  private static let prefix = "folder-"
  private static let fileName = ".richpush-folder"
  /// For a folder that cannot be written to: all nodes take it for the same.
  private static let readOnly = prefix + "read-only"

  /// The name of the folder at a path, which is created if need be.
  package static func identity(of path: String) -> String {
    let file = path + "/" + fileName
    if let known = read(file) { return known }
    let new = file + "-" + String(UInt64.random(in: .min ... .max), radix: 16)
    defer { unlink(new) }
    do throws(Errno) {
      let target = try FileDescriptor(new, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
      try target.write(
        Array("\(prefix)\(String(UInt128.random(in: .min ... .max), radix: 16))\n".utf8))
      guard fsync(target.number) == 0 else { return readOnly }
    } catch { return readOnly }
    // Of several nodes that start at once, one names it.
    link(new, file)
    return read(file) ?? readOnly
  }

  private static func read(_ file: String) -> String? {
    guard let source = try? FileDescriptor(file, O_RDONLY | O_NOFOLLOW) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = pread(source.number, &bytes, bytes.count, 0)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    guard text.hasPrefix(prefix), text.hasSuffix("\n") else { return nil }
    return String(text.dropLast())
  }

  /// The stamp of what is no file of this folder's, or is to be examined again.
  var unstamped: String { identity.map { $0 + ":" } ?? "" }

  /// Whether an asset with this stamp is removed if its file is not in this folder.
  func owns(_ stamp: String) -> Bool { identity == nil || stamp.hasPrefix(unstamped) }

  /// Whether the file of an asset with this stamp is in another folder.
  package func isElsewhere(_ stamp: String) -> Bool {
    identity != nil && stamp.hasPrefix(Self.prefix) && !stamp.hasPrefix(Self.readOnly)
      && !owns(stamp)
  }

  /// The folder that a stamp names.
  static func folder(of stamp: String) -> String {
    String(stamp.prefix { $0 != ":" })
  }
}
