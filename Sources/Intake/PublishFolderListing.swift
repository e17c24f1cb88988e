import Glibc
package import RichPushAPI
import Store

// The catalogue lists files of the publish folder that are not sent, with the reason.
extension DropFolder {
  /// The publish folder in this drop folder; nil if there is none.
  package var publishFolder: DropFolder? {
    let path = path + "/" + Self.publishFolderName
    var status = Glibc.stat()
    guard only == nil, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      return nil
    }
    return DropFolder(path: path, mask: mask, identity: identity)
  }

  /// All files in the publish folder if publishing is disabled, with that reason.
  var unsentWithoutPublisher: [String: String] {
    let unsent = try? publishFolder?.unsent { _, _ in NotifySidecar.isDisabled }
    return (unsent ?? [:]).mapValues { _ in NotifySidecar.isDisabled }
  }

  /// The files of this publish folder that are not sent, such as `img/logo.png`, with the reason.
  ///
  /// `reason` is called for each file; nil if it was sent, or may still be.
  package func unsent(
    _ reason: (_ richType: String, FolderEntry) -> String?
  ) throws(ServiceError) -> [String: String] {
    let found = try richTypes()
    var unsent = Dictionary(
      found.others.map { ($0.shown, "Put it into a folder of its rich type, such as outbox/img.") }
    ) { $1 }
    for richType in found.types {
      let entries = try entries(richType).map(\.entry)
      let names = names(richType, for: entries.compactMap(\.spelling))
      for entry in entries
      where !entry.isForeign && NotifySidecar.file(for: entry) == nil && !entry.isDescription {
        if names.isShadowed(entry) {
          unsent[richType + "/" + entry.escaped] = FolderNames.shadowed
        } else {
          unsent[richType + "/" + entry.shown] = reason(richType, entry)
        }
      }
    }
    return unsent
  }
}

extension AssetIntake {
  /// Records exactly these files of the publish folder as not sent, with the reasons.
  package func recordUnsent(_ unsent: [String: String]) async {
    let type = DropFolder.publishFolderName
    for (name, reason) in unsent { await refuse(type, name, reason, stamp: folder.unstamped) }
    let known = (try? await store.assets.assetStamps(type)) ?? [:]
    for (name, stamp) in known where unsent[name] == nil && folder.owns(stamp) {
      try? await forget(type, name)
    }
  }

  /// Records why a name in the publish folder, such as `img/logo.png`, is not sent; nil if nothing is wrong with it.
  package func recordUnsent(_ name: String, _ reason: String?) async {
    let type = DropFolder.publishFolderName
    if let reason { return await refuse(type, name, reason, stamp: folder.unstamped) }
    guard let known = try? await store.assets.asset(type, name), folder.owns(known.stamp) else {
      return
    }
    try? await forget(type, name)
  }
}
