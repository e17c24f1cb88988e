import Glibc
import Media
import Primitives
import RichPushAPI

/// The names in a rich type's folder that are in one or several of Unicode's forms, as they were when it was read.
///
/// Of several names that differ only in form, the file that was modified last counts.
package struct FolderNames: Sendable {
  /// By the composed form, the one that counts first.
  private var entries: [String: [FolderEntry]] = [:]

  /// No names, for a folder of which only ASCII names matter.
  package static let none = FolderNames()

  private init() {}

  /// Orders the names among these entries; reads the times of those that have several forms.
  init(_ entries: some Sequence<FolderEntry>, in folder: FileDescriptor) {
    for entry in entries {
      guard let spelling = entry.spelling, !spelling.isPrintableASCII else { continue }
      self.entries[spelling.composed, default: []].append(entry)
    }
    for (name, forms) in self.entries where forms.count > 1 {
      self.entries[name] = forms.map { ($0, Age($0, in: folder)) }
        .sorted { $0.1 > $1.1 }.map(\.0)
    }
  }

  /// The entries that are `name` in one of Unicode's forms, the one that counts first; none for an ASCII name.
  package func forms(of name: String) -> [FolderEntry] {
    name.isPrintableASCII ? [] : entries[name.composed] ?? []
  }

  /// The name on disk of what has this name in some form; the name itself if there is none, or if it is ASCII.
  package func spelling(of name: String) -> String { forms(of: name).first?.spelling ?? name }

  /// Whether a file with the same name in another form counts, and not this one.
  package func isShadowed(_ entry: FolderEntry) -> Bool {
    guard let name = entry.spelling, let first = forms(of: name).first else { return false }
    return first != entry && forms(of: name).contains(entry)
  }

  /// Why a file is refused that is shadowed.
  package static let shadowed =
    "Another file here has the same name, with accents stored differently, and is newer. Remove one."

  /// When a file was modified, and then when it was changed; of two that are equal, the composed name is newer.
  private struct Age: Comparable {
    private let times: [Int]

    init(_ entry: FolderEntry, in folder: FileDescriptor) {
      let status = entry.status(in: folder) ?? Glibc.stat()
      let isComposed = entry.spelling.map { Array($0.composed.utf8) } == entry.bytes
      times = [
        status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
        status.st_ctim.tv_nsec, isComposed ? 1 : 0,
      ]
    }

    static func < (one: Age, other: Age) -> Bool {
      one.times.lexicographicallyPrecedes(other.times)
    }
  }
}

extension DropFolder {
  /// The names in a rich type's folder, of which only those with other characters than ASCII are read.
  ///
  /// For names that are all ASCII, which have only one form, nothing is read.
  package func names(_ richType: String, for names: some Sequence<String>) -> FolderNames {
    guard names.contains(where: { !$0.isPrintableASCII }), let folder = try? openFolder(richType)
    else { return .none }
    return FolderNames((try? Self.entries(of: folder, richType)) ?? [], in: folder)
  }
}
