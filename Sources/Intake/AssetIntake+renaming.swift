import FoundationEssentials
import Media
import Primitives
package import RichPushAPI
package import Store

// The file is renamed first, then its row: the folder is what holds. If the server ends in between, or if somebody renames
// the file in the folder, the file is found under a name that is new in the catalogue, and what was said of it is taken
// from the row of the name under which it is not there any more.
extension AssetIntake {
  /// How long ago an asset may have been removed that was in truth renamed: its new name may be examined later.
  private static let renamingTime: TimeInterval = 10

  /// Renames an asset: its file, with what is said of it and what it had before.
  ///
  /// Notifications keep its content.
  ///
  /// `mayPublish` tells whether it is renamed by the user in whose name dropped files are published; `confirm` is called
  /// last before anything changes.
  ///
  /// - Throws: `notFound` if there is none, `conflict` if there is another of the new name or a file beside it that would
  ///   stay behind, `forbidden` if others publish by it.
  package func rename(
    _ richType: String, _ name: AssetName, to new: AssetName, mayPublish: Bool,
    confirm: @escaping @Sendable () async throws -> Void
  ) async throws(ServiceError) -> AssetRecord {
    for name in [name, new] { try requireChange(richType, name, mayPublish: mayPublish) }
    guard isAsset(richType, new) else {
      throw ServiceError(.rejected, "\(new.value.quoted) is no name of an asset.")
    }
    guard new != name else { return try await examine(richType, name).asset }
    // In one order, so that two that want each other's name do not wait for each other.
    let keys = [name, new].map { richType + "/" + $0.value }.sorted()
    return try await BlockingExecutor.intake.runUncancelled { () async throws(ServiceError) in
      try await names.withPermit(keys[0]) { () async throws(ServiceError) in
        try await names.withPermit(keys[1]) { () async throws(ServiceError) in
          try await renameInTurn(richType, name, to: new, confirm)
        }
      }
    }
  }

  /// The same for a caller that has the permits of both names.
  private func renameInTurn(
    _ richType: String, _ name: AssetName, to new: AssetName,
    _ confirm: @Sendable () async throws -> Void
  ) async throws(ServiceError) -> AssetRecord {
    let known = try await examineInTurn(richType, name, spelling: nil, closed: false).asset
    guard !folder.isElsewhere(known.stamp) else {
      throw ServiceError(.conflict, "Its file is in the folder of another server: rename it there.")
    }
    for file in [NotifySidecar.name(for: name.value), AssetDescription.name(for: name.value)]
    where folder.stamp(richType, named: folder.names(richType, for: [file]).spelling(of: file))
      != nil
    {
      throw ServiceError(
        .conflict, "\(file.quoted) beside the file belongs to its name: rename both in the folder.")
    }
    let other = try await ServiceError.mapping { try await store.assets.asset(richType, new.value) }
    guard other.map({ !folder.isElsewhere($0.stamp) }) ?? true,
      folder.stamp(richType, new, spelling: nil) == nil
    else { throw Self.taken(new, richType) }
    do { try await confirm() } catch { throw ServiceError(any: error) }
    guard let stamp = try folder.rename(richType, name, to: new) else {
      throw Self.taken(new, richType)
    }
    var asset = known
    asset.name = new.value
    asset.lookAlike = nil
    asset.stamp = known.stamp(ofRenamed: stamp) ?? folder.unstamped
    try await ServiceError.mapping { [asset] in
      try await store.assets.renameAsset(
        asset, from: name.value, event: asset.event,
        removal: AssetRecord.removalEvent(richType, name.value))
    }
    log(.info, "assets", "\(richType)/\(name.value) is \(richType)/\(new.value) now")
    return try await examineInTurn(richType, new, spelling: nil, closed: true).asset
  }

  private static func taken(_ name: AssetName, _ richType: String) -> ServiceError {
    ServiceError(.conflict, DropFolder.existing(richType, name).reason)
  }

  /// The asset whose file has this content now under a name that is new; nil if it is another file.
  func earlierName(of new: AssetRecord) async -> AssetRecord? {
    guard let blob = new.blob else { return nil }
    for asset in (try? await store.assets.assets(new.richType, with: blob)) ?? [] {
      guard asset.name != new.name, folder.owns(asset.stamp), let name = AssetName(asset.name),
        folder.stamp(asset.richType, name, spelling: nil) == nil
      else { continue }
      return asset
    }
    let versions = try? await store.assets.assetVersions(
      new.richType, with: blob, endedAfter: store.now().addingTimeInterval(-Self.renamingTime))
    return versions?.first { $0.name != new.name }.map { version in
      var asset = new
      (asset.alt, asset.focus, asset.labels) = (version.alt, version.focus, version.labels)
      return asset
    }
  }
}

extension AssetRecord {
  /// The stamp that it has when its file has this one after a rename, which changes the last of its times; nil if it is
  /// another file.
  fileprivate func stamp(ofRenamed file: String) -> String? {
    let before = stamp.prefix { $0 != " " }
    guard let own = before.lastIndex(of: ":"), let other = file.lastIndex(of: ":"),
      before[..<own] == file[..<other]
    else { return nil }
    return file + stamp[before.endIndex...]
  }
}
