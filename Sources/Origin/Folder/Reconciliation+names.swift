import Glibc
import Store

extension Reconciliation {
  /// Under which name the catalogue shows a file; `forms` are all names of its folder.
  func shown(_ entry: FolderEntry, among forms: Set<[UInt8]>) -> String {
    guard let name = entry.name, let spelling = entry.spelling else { return entry.shown }
    let composed = Array(name.value.utf8)
    return composed != entry.bytes && forms.contains(composed)
      ? EscapedName.plain(spelling) : name.value
  }

  /// Whether the folder has the same name in the composed form too, which then is the asset.
  func isShadowed(_ richType: String, _ entry: FolderEntry, _ name: AssetName) -> Bool {
    guard Array(name.value.utf8) != entry.bytes else { return false }
    return assets.folder.stamp(richType, name, spelling: name.value) != nil
  }

  /// Shows a name that can be no asset; forgets it when its file is gone.
  func refuse(
    _ richType: String, _ entry: FolderEntry, _ shown: String, _ sentence: String
  ) async {
    guard let folder = try? assets.folder.openFolder(richType) else { return }
    let stamp = entry.stamp(in: folder)
    close(folder)
    guard let stamp else { return _ = try? await assets.forget(richType, shown) }
    await assets.refuse(
      richType, shown, sentence, stamp: stamp + " " + assets.validation.identity(richType))
  }

  /// What is said of a name that lies beside the folders of the rich types.
  static func misplaced(_ entry: FolderEntry) -> Asset {
    Assets.refused(
      root, entry.shown,
      "It lies beside the folders of the rich types: move it into one of them, such as img.")
  }

  /// Tells of what lies beside the folders of the rich types, where nobody looks for it.
  func misplaced(_ others: [FolderEntry]) async {
    for entry in others {
      let asset = Self.misplaced(entry)
      await assets.refuse(Self.root, asset.name, asset.reason ?? "", stamp: "")
    }
    let known = (try? assets.store.assetStamps(Self.root)) ?? [:]
    await forget(Self.root, known, except: Set(others.map(\.shown)))
  }

  /// Forgets what was known and is not in the folder any more.
  func forget(_ richType: String, _ known: [String: String], except present: Set<String>) async {
    let gone = known.filter { !present.contains($0.key) }
    await Array(gone).inParallel(Self.width) { name, stamp in
      try? await assets.forget(richType, name, stamp: stamp)
    }
  }
}
