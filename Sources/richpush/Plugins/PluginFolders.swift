import Foundation

/// Where plugins are looked for: in the folder that is named, or else in `plugins` and among those that ship.
struct PluginFolders {
  /// The author's or operator's own.
  let own: String
  /// Of those that ship, for rich types that ``own`` has nothing of; nil when a folder is named.
  let shipped: String?

  /// The flag that names a folder.
  static let option = Option.value(
    "plugins", "FOLDER", "the plugins to use; else those in plugins, and those that ship")

  init(_ arguments: Arguments) {
    own = arguments.string("plugins") ?? "plugins"
    shipped = arguments.string("plugins") == nil ? Programs.plugins : nil
  }

  /// The path of a rich type's file or folder; in ``own`` where there is none.
  func path(of richType: String) -> String {
    let paths = [own, shipped].compactMap { $0.map { "\($0)/\(richType)" } }
    return paths.first(where: FileManager.default.fileExists(atPath:)) ?? paths[0]
  }
}
