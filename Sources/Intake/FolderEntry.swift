import FoundationEssentials
import Glibc
import Primitives

/// A name in a rich type's folder, exactly as it is on disk.
package struct FolderEntry: Sendable, Hashable {
  /// The name's bytes, without the NUL.
  package let bytes: [UInt8]
  /// The name that the catalogue shows.
  package let shown: String
  /// The asset's name; nil if it cannot be an asset.
  package let name: AssetName?
  /// Whether it is another program's, which is ignored.
  package let isForeign: Bool

  /// Describes a name as `readdir` returns it.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    name = String(validating: bytes, as: UTF8.self).flatMap { AssetName($0) }
    shown = name?.value ?? EscapedName.text(bytes)
    isForeign = AssetName.isForeign(String(validating: bytes, as: UTF8.self) ?? shown)
  }

  package static func == (one: Self, other: Self) -> Bool { one.bytes == other.bytes }

  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// The name as on disk; nil if it is not UTF-8.
  package var spelling: String? { String(validating: bytes, as: UTF8.self) }

  /// Why it cannot be an asset.
  package var problem: String {
    guard let spelling else { return "The name is not UTF-8. Rename the file." }
    return AssetName.problem(with: spelling.composed) ?? ""
  }

  /// Whether it says the alternative text and the focus of another file.
  package var isDescription: Bool { AssetDescription.file(for: self) != nil }

  /// Identifies the state of the file without reading it; nil if it does not exist any more.
  func stamp(in folder: FileDescriptor, _ identity: String?) -> String? {
    status(in: folder)?.stamp(in: identity)
  }

  /// Facts about the file; nil if it does not exist any more.
  func status(in folder: FileDescriptor) -> stat? {
    var status = Glibc.stat()
    let name = bytes.map { CChar(bitPattern: $0) } + [0]
    return fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
  }
}

extension stat {
  /// When the file was written last, to the second; the nearest one of the years 1600 to 9999, which every program writes
  /// in the same way, since some file systems have any.
  var written: Date {
    let seconds = min(max(st_mtim.tv_sec, -11_676_096_000), 253_402_300_799)
    return Date(timeIntervalSince1970: Double(seconds))
  }

  /// Device, inode, size and times; the name of the drop folder in the place of the device, which differs
  /// between the nodes that share it.
  func stamp(in folder: String?) -> String {
    """
    \(folder ?? String(st_dev)):\(st_ino):\(st_size):\(st_mtim.tv_sec).\(st_mtim.tv_nsec):\
    \(st_ctim.tv_sec).\(st_ctim.tv_nsec)
    """
  }
}

/// What a name in a rich type's folder means.
package enum EntryKind {
  /// An asset's file.
  case asset(AssetName)
  /// Not usable as an asset; listed under a name with the reason.
  case refused(as: String, reason: String)
  /// The sidecar of a file, or the result of publishing it.
  case sidecar(of: String)
  /// What says the alternative text and the focus of a file.
  case description(of: String)
  /// Not listed.
  case ignored

  /// The name under which it is listed; nil if it is not.
  package var shown: String? {
    switch self {
    case .asset(let name): name.value
    case .refused(let name, _): name
    case .sidecar, .description, .ignored: nil
    }
  }
}

extension DropFolder {
  /// What a name means among the names of its folder; `publishes` tells whether files with sidecars are sent.
  package func kind(
    of entry: FolderEntry, _ richType: String, among names: FolderNames, publishes: Bool
  ) -> EntryKind {
    if entry.isForeign { return .ignored }
    if let file = NotifySidecar.file(for: entry) {
      if names.isShadowed(entry), !NotifySidecar.isResult(entry) {
        return .refused(as: entry.escaped, reason: FolderNames.shadowed)
      }
      if publishes { return .sidecar(of: file) }
      return NotifySidecar.isResult(entry)
        ? .ignored : .refused(as: entry.shown, reason: NotifySidecar.isDisabled)
    }
    if let file = AssetDescription.file(for: entry) {
      if names.isShadowed(entry) {
        return .refused(as: entry.escaped, reason: FolderNames.shadowed)
      }
      let problem = problem(withDescription: entry, richType)
      return problem.map { .refused(as: entry.shown, reason: $0) } ?? .description(of: file)
    }
    guard let name = entry.name else { return .refused(as: entry.shown, reason: entry.problem) }
    if NotifySidecar.isName(name.value) {
      return .refused(
        as: name.value,
        reason:
          "The name looks like a sidecar's, which ends exactly in .notify.json. Rename the file.")
    }
    if AssetDescription.isName(name.value) {
      return .refused(
        as: name.value,
        reason:
          "The name looks like a description's, which ends exactly in .describe.json. Rename the file."
      )
    }
    guard names.isShadowed(entry) else { return .asset(name) }
    return .refused(as: entry.escaped, reason: FolderNames.shadowed)
  }
}

extension FolderEntry {
  /// What the catalogue shows for a file if another one with the same name counts.
  package var escaped: String { EscapedName.plain(spelling ?? shown) }
}
