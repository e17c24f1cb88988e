import Foundation
import Glibc

/// A name in a rich type's folder, exactly as the disk has it.
package struct FolderEntry: Sendable, Hashable {
  /// The name's bytes, without the NUL.
  package let bytes: [UInt8]
  /// The name that the catalogue shows.
  package let shown: String
  /// Its name as an asset; nil if it cannot be one.
  package let name: AssetName?
  /// Whether it looks like a program's temporary file, which is ignored.
  package let isTemporary: Bool

  /// Describes a name as `readdir` returns it.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    name = String(validating: bytes, as: UTF8.self).flatMap { AssetName($0) }
    shown = name?.value ?? EscapedName.text(bytes)
    isTemporary = AssetName.isTemporary(String(validating: bytes, as: UTF8.self) ?? shown)
  }

  package static func == (one: Self, other: Self) -> Bool { one.bytes == other.bytes }

  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// The name as on disk; nil if it is not UTF-8.
  package var spelling: String? { String(validating: bytes, as: UTF8.self) }

  /// Why it cannot be an asset.
  package var problem: String {
    guard let spelling else { return "The name is not UTF-8. Rename the file." }
    return AssetName.problem(with: spelling.precomposedStringWithCanonicalMapping) ?? ""
  }

  /// Identifies the state of the file without reading it; nil if it is gone.
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

/// What a name in a rich type's folder means, for the server and for a dry run alike.
package enum EntryKind {
  /// An asset's file.
  case asset(AssetName)
  /// Not usable as an asset; listed under this name with the reason.
  case refused(as: String, reason: String)
  /// The sidecar of a file, or the result of publishing it.
  case sidecar(of: String)
  /// Not listed.
  case ignored

  /// The name under which it is listed; nil if it is not.
  package var shown: String? {
    switch self {
    case .asset(let name): name.value
    case .refused(let name, _): name
    case .sidecar, .ignored: nil
    }
  }
}

extension DropFolder {
  /// What a name means; `publishes` is whether files with sidecars are sent.
  package func kind(of entry: FolderEntry, _ richType: String, publishes: Bool) -> EntryKind {
    if entry.isTemporary { return .ignored }
    if let file = NotifySidecar.file(for: entry) {
      if publishes { return .sidecar(of: file) }
      return NotifySidecar.isResult(entry)
        ? .ignored : .refused(as: entry.shown, reason: NotifySidecar.isDisabled)
    }
    guard let name = entry.name else { return .refused(as: entry.shown, reason: entry.problem) }
    // Of two Unicode forms of one name the composed one is the asset.
    let isShadowed =
      Array(name.value.utf8) != entry.bytes && stamp(richType, named: name.value) != nil
    guard isShadowed else { return .asset(name) }
    return .refused(
      as: EscapedName.plain(entry.spelling ?? entry.shown),
      reason: "Another file here has the same name, with accents stored differently. Remove one.")
  }
}
