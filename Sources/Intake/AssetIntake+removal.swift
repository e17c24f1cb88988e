import Media
import Primitives
package import RichPushAPI
import Store

// An asset whose file is in another node's drop folder is removed at once; its file when that node examines it.
extension AssetIntake {
  /// Removes an asset and its file; notifications keep its content.
  ///
  /// `mayPublish` tells whether it is removed by the user in whose name dropped files are published.
  ///
  /// - Throws: `notFound` if there is none, `forbidden` if others publish by it.
  package func remove(
    _ richType: String, _ name: AssetName, mayPublish: Bool
  ) async throws(ServiceError) {
    try requireChange(richType, name, mayPublish: mayPublish)
    // The folder's watcher would else find the file gone first, and the removal would be nobody's.
    try await BlockingExecutor.intake.runUncancelled { () async throws(ServiceError) in
      try await names.withPermit(richType + "/" + name.value) { () async throws(ServiceError) in
        try await removeInTurn(richType, name)
      }
    }
  }

  private func removeInTurn(_ richType: String, _ name: AssetName) async throws(ServiceError) {
    let known = try await ServiceError.mapping {
      try await store.assets.asset(richType, name.value)
    }
    if let known, folder.isElsewhere(known.stamp) {
      try await requestRemoval(ofFileOf: known)
    } else {
      do throws(ServiceError) { try folder.remove(richType, name) } catch {
        // Another node has its file, or had it.
        guard error.code == .notFound, known != nil, folder.identity != nil else { throw error }
      }
    }
    // A file with this name in another of Unicode's forms counts now.
    if !name.value.isPrintableASCII, folder.stamp(richType, name, spelling: nil) != nil {
      _ = try await examineInTurn(richType, name, spelling: nil, closed: false)
      return
    }
    try await forget(richType, name.value)
  }

  /// Tells the node that has an asset's file to remove that.
  func requestRemoval(ofFileOf asset: AssetRecord) async throws(ServiceError) {
    try await ServiceError.mapping {
      try await store.assets.addFileRemoval(
        FileRemoval(
          folder: DropFolder.folder(of: asset.stamp), richType: asset.richType, name: asset.name,
          stamp: Self.fileStamp(asset.stamp)))
    }
  }

  /// Removes a file whose asset was removed or replaced at another node.
  ///
  /// - Throws: `notFound` if it was removed.
  func removeIfRequested(
    _ richType: String, _ name: AssetName, spelling: String?
  ) async throws(ServiceError) {
    guard let identity = folder.identity,
      let stamp = folder.stamp(richType, name, spelling: spelling)
    else { return }
    let removal = try await ServiceError.mapping {
      try await store.assets.takeFileRemoval(richType, name.value, folder: identity)
    }
    // Otherwise somebody has dropped another file since.
    guard let removal, removal.stamp == stamp else { return }
    try folder.remove(richType, name)
    log(.info, "assets", "\(richType)/\(name.value): removed, as another node was told")
    throw ServiceError(.notFound, "There is no file \(name.value.quoted).")
  }

  /// The part of an asset's stamp that is its file's.
  private static func fileStamp(_ stamp: String) -> String { String(stamp.prefix { $0 != " " }) }
}
