import Media
import MediaTypes
import Primitives
package import RichPushAPI
import Store

extension AssetIntake {
  /// The rich type to which the file at a path belongs by its content.
  ///
  /// - Throws: `unsupportedType`, with what its owner can do.
  package func richType(ofFileAt path: String) throws(ServiceError) -> String {
    guard let file = OpenFile(path) else {
      throw ServiceError(.unavailable, "The file cannot be read.")
    }
    return try validator.richType(of: file)
  }

  /// A file in the drop folder itself, as the catalogue lists it: refused, with the folder to which it belongs.
  func misplaced(_ entry: FolderEntry) -> AssetRecord {
    let remedy =
      if let richType = richType(ofFileInRoot: entry) {
        "Move this one into the folder \(richType.quoted)."
      } else {
        "Move it into one, such as img."
      }
    return Self.refused(
      Reconciliation.root, entry.shown, "Files must be in the folder of a rich type. \(remedy)")
  }

  private func richType(ofFileInRoot entry: FolderEntry) -> String? {
    guard let name = entry.spelling, let root = try? folder.openRoot(),
      let file = try? AssetFile(folder: root.number, name: name)
    else { return nil }
    // The file that was opened, whatever has this name meanwhile.
    return try? richType(ofFileAt: "/proc/self/fd/\(file.descriptor.number)")
  }
}
