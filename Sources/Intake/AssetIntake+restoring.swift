import Media
import Primitives
package import RichPushAPI
package import Store

extension AssetIntake {
  /// Puts content back into the drop folder that an asset had before it was replaced or removed, with what the asset said
  /// then; what it has now can be brought back, too.
  ///
  /// `mayPublish` tells whether it is put there by the user in whose name dropped files are published; `confirm` is
  /// called last before anything is stored.
  ///
  /// - Throws: the plugin's reason if it does not accept the content any more, or `forbidden` if others would publish by
  ///   it; nothing has changed then.
  package func restore(
    _ version: StoredAssetVersion, as name: AssetName, mayPublish: Bool,
    confirm: @escaping @Sendable () async throws -> Void
  ) async throws(ServiceError) -> AssetRecord {
    try requireChange(version.richType, name, mayPublish: mayPublish)
    let content = try await BlockingExecutor.intake.run { () async throws(ServiceError) in
      let blob = Blob(digest: version.blob, size: version.bytes)
      try await ServiceError.mapping {
        try await store.blobs.fetch(blob.digest, size: blob.size)
      }
      guard store.blobs.size(of: blob.digest) == blob.size else {
        throw ServiceError(.notFound, "The content is damaged: it can't be brought back.")
      }
      let pinned = try pinned(blob)
      try folder.requireSpace(forCopyOf: pinned.path, version.richType)
      var content = try await checked(pinned, version.richType, name)
      content.description = AssetDescription(version)
      content.isRestored = true
      return content
    }
    return try await put(
      content, version.richType, name, mayPublish: mayPublish, mayReplace: true, confirm: confirm)
  }
}
