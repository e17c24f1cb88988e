import FoundationEssentials
import Glibc
import Media
import MediaTypes
import PluginHost
import Primitives
package import RichPushAPI
package import Store

/// The content of a file that was put into the drop folder, as its plugin accepted it before.
struct CheckedContent: Sendable {
  let pinned: PinnedAsset
  let details: String?
  /// The plugin's version.
  let identity: String
  /// What its asset says of it, unless a file beside it does; nil if that stays as it is.
  var description: AssetDescription?
  /// Whether the asset has had it before, and it is brought back.
  var isRestored = false
  /// The stamp that its asset has; empty until the file is in the folder.
  var stamp = ""
}

// A file that a client uploads is written once, hashed once and validated once: it becomes the blob, of which the file
// in the drop folder is a copy. They share no inode: a program that writes to the file must not change the blob. Where
// the file system lets files share their content (XFS, Btrfs), the copy is not written either.
extension AssetIntake {
  /// Puts the file at `path`, in the store's temporary folder, into the drop folder if the plugin accepts it; nothing is
  /// left at `path`.
  ///
  /// `mayPublish` tells whether it is put there by the user in whose name dropped files are published, `mayReplace`
  /// whether there may be a file of this name.
  ///
  /// - Throws: the plugin's reason, `forbidden` if others would publish by it, or `preconditionFailed`; the folder is
  ///   unchanged then.
  package func put(
    _ path: String, _ richType: String, _ name: AssetName, mayPublish: Bool,
    mayReplace: Bool = true,
    confirm: @escaping @Sendable () async throws -> Void = {}
  ) async throws(ServiceError) -> AssetRecord {
    let content = try await BlockingExecutor.intake.run { () async throws(ServiceError) in
      if !mayReplace { try await requireAbsence(richType, name) }
      // Before it becomes a blob, which would take its space for the grace period.
      try folder.requireSpace(forCopyOf: path, richType)
      return try await checkedContent(movedFrom: path, richType, name)
    }
    return try await put(
      content, richType, name, mayPublish: mayPublish, mayReplace: mayReplace, confirm: confirm)
  }

  /// Puts a copy of content into the drop folder, and records the asset that has it.
  func put(
    _ content: CheckedContent, _ richType: String, _ name: AssetName, mayPublish: Bool,
    mayReplace: Bool, confirm: @escaping @Sendable () async throws -> Void
  ) async throws(ServiceError) -> AssetRecord {
    // Its client was told that it failed.
    guard !Task.isCancelled else { throw ServiceError(.unavailable, "The request has ended.") }
    return try await BlockingExecutor.intake.runUncancelled { () async throws(ServiceError) in
      // The folder's watcher would else examine the file first, which copies it.
      try await names.withPermit(richType + "/" + name.value) { () async throws(ServiceError) in
        do { try await confirm() } catch { throw ServiceError(any: error) }
        try requireChange(richType, name, mayPublish: mayPublish)
        // What is in the cache of an object store may have been removed while the name was taken.
        try await ServiceError.mapping {
          try await store.blobs.fetch(content.pinned.digest, size: content.pinned.size)
        }
        let stamp = try folder.put(content.pinned.path, richType, name, mayReplace: mayReplace)
        return try await asset(of: content, stamp, richType, name)
      }
    }
  }

  /// Makes a file in the store's temporary folder the content of one notification, if the plugin accepts it; nothing is
  /// left at `path`.
  ///
  /// - Returns: an asset that is in neither the drop folder nor the catalogue, for ``Publisher``.
  /// - Throws: the plugin's reason.
  package func attach(
    _ path: String, _ richType: String, _ name: AssetName
  ) async throws(ServiceError) -> AssetRecord {
    let content = try await BlockingExecutor.intake.run { () async throws(ServiceError) in
      try await checkedContent(movedFrom: path, richType, name)
    }
    var asset = AssetRecord(
      richType: richType, name: name.value, state: .ready, bytes: content.pinned.size,
      modified: Date(timeIntervalSince1970: 0), stamp: "")
    (asset.blob, asset.type) = (content.pinned.digest, content.pinned.type)
    asset.details = content.details
    return asset
  }

  /// Makes an uploaded file a blob, and has the plugin validate it.
  private func checkedContent(
    movedFrom path: String, _ richType: String, _ name: AssetName
  ) async throws(ServiceError) -> CheckedContent {
    _ = try validator.plugin(richType)
    let (blob, _) = try await ServiceError.mapping {
      try await store.blobs.addBlocking(moving: path, limit: Self.largestFile)
    }
    return try await checked(pinned(blob), richType, name)
  }

  /// A blob whose file is here, with the media type of its bytes.
  func pinned(_ blob: Blob) throws(ServiceError) -> PinnedAsset {
    let file = try AssetFile(folder: AT_FDCWD, name: store.blobs.path(of: blob.digest))
    let type = MediaType.sniff(file.prefix(MediaType.prefixLength)).value
    return PinnedAsset(blob, type: type, in: store)
  }

  /// Has the plugin validate content.
  func checked(
    _ pinned: PinnedAsset, _ richType: String, _ name: AssetName
  ) async throws(ServiceError) -> CheckedContent {
    let identity = try validator.plugin(richType).identity
    let details = try await validate(
      RenditionSource(richType: richType, message: "", payload: name.value, pinned: pinned))
    return CheckedContent(pinned: pinned, details: details, identity: identity)
  }

  /// Records the asset whose file was put into the folder.
  private func asset(
    of content: CheckedContent, _ stamp: String, _ richType: String, _ name: AssetName
  ) async throws(ServiceError) -> AssetRecord {
    guard isAsset(richType, name) else {
      var sidecar = try await check(richType, name, spelling: nil).asset
      sidecar.state = .ready
      return sidecar
    }
    var content = content
    content.stamp = stamp + " " + content.identity
    return try await examineInTurn(
      richType, name, spelling: nil, closed: true, put: content
    ).asset
  }

  /// Returns if there is no file of this name, in any spelling, nor in another node's folder.
  private func requireAbsence(_ richType: String, _ name: AssetName) async throws(ServiceError) {
    let known = try await ServiceError.mapping {
      try await store.assets.asset(richType, name.value)
    }
    let isElsewhere = known.map { folder.isElsewhere($0.stamp) } ?? false
    guard !isElsewhere, folder.stamp(richType, name, spelling: nil) == nil else {
      throw DropFolder.existing(richType, name)
    }
  }
}
