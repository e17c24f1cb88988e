import Foundation
import Glibc
import PluginHost

/// The folder content teams drop files into: `<richType>/<name>`, read by descriptor only.
package struct DropFolder: Sendable {
  /// The folder's path, as the operator gave it.
  package let path: String

  /// The rich types that have a folder.
  func richTypes() -> [String] {
    Self.entries(of: Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
      .filter { Plugin.isName($0) && !Self.isClosed(openFolder($0)) }
      .sorted()
  }

  /// The names in a rich type's folder, exactly as the disk has them.
  func names(_ richType: String) -> [String] { Self.entries(of: openFolder(richType)).sorted() }

  /// Opens an asset's file.
  func open(_ richType: String, _ name: AssetName) throws(Refusal) -> AssetFile {
    let folder = openFolder(richType)
    guard folder >= 0 else { throw Refusal(404, "There is no folder \(richType) for assets.") }
    defer { close(folder) }
    return try AssetFile(folder: folder, name: Self.spelling(of: name, in: folder))
  }

  /// Whether the file was written within the last two seconds.
  func isFresh(_ richType: String, _ name: AssetName) -> Bool {
    guard let file = try? open(richType, name) else { return false }
    return (0..<2).contains(Date().timeIntervalSince(file.modified))
  }

  /// How the disk spells a name: macOS stores the decomposed form of what it is given.
  static func spelling(of name: AssetName, in folder: Int32) -> String {
    if faccessat(folder, name.value, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { return name.value }
    let decomposed = name.value.decomposedStringWithCanonicalMapping
    return faccessat(folder, decomposed, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? decomposed : name.value
  }

  /// A descriptor of the rich type's folder, or -1.
  func openFolder(_ richType: String) -> Int32 {
    guard Plugin.isName(richType) else { return -1 }
    let root = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { return -1 }
    defer { close(root) }
    return openat(root, richType, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
  }

  private static func isClosed(_ descriptor: Int32) -> Bool {
    guard descriptor >= 0 else { return true }
    close(descriptor)
    return false
  }

  /// The valid names in an open folder, which is closed with that.
  private static func entries(of descriptor: Int32) -> [String] {
    guard descriptor >= 0 else { return [] }
    guard let folder = fdopendir(descriptor) else {
      close(descriptor)
      return []
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
