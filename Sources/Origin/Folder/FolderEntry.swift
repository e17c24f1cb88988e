import Foundation
import Glibc

/// A name in a rich type's folder, exactly as the disk has it.
struct FolderEntry: Sendable, Hashable {
  /// The name's bytes, without the NUL.
  let bytes: [UInt8]
  /// The name it has, or would have, in the catalogue.
  let shown: String
  /// Its name as an asset; nil when it can be none.
  let name: AssetName?
  /// Whether it is there for a moment only, and passed over.
  let isTemporary: Bool

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    name = String(validating: bytes, as: UTF8.self).flatMap { AssetName($0) }
    shown = name?.value ?? EscapedName.text(bytes)
    isTemporary = AssetName.isTemporary(String(validating: bytes, as: UTF8.self) ?? shown)
  }

  static func == (one: Self, other: Self) -> Bool { one.bytes == other.bytes }

  func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// The name as the disk spells it, where it is UTF-8.
  var spelling: String? { String(validating: bytes, as: UTF8.self) }

  /// Why it can be no asset, in a sentence.
  var problem: String {
    guard let spelling else { return "The name is not UTF-8: rename the file." }
    return AssetName.problem(with: spelling.precomposedStringWithCanonicalMapping) ?? ""
  }

  /// What tells one state of the file from another without reading it; nil when it is gone.
  func stamp(in folder: Int32) -> String? {
    var status = Glibc.stat()
    let isThere = (bytes + [0]).withUnsafeBytes { name in
      name.withMemoryRebound(to: CChar.self) { name in
        name.baseAddress.map { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) == 0 } ?? false
      }
    }
    return isThere ? status.stamp : nil
  }
}

extension stat {
  /// Device, inode, size and times.
  var stamp: String {
    """
    \(st_dev):\(st_ino):\(st_size):\(st_mtim.tv_sec).\(st_mtim.tv_nsec):\
    \(st_ctim.tv_sec).\(st_ctim.tv_nsec)
    """
  }
}
