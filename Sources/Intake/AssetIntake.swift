import FoundationEssentials
import Glibc
package import Media
import MediaTypes
import PluginHost
package import Primitives
package import RichPushAPI
package import Store

/// Examines files of the drop folder with their plugins, and records the results in the catalogue.
package struct AssetIntake: Sendable {
  package let store: Store
  package var folder: DropFolder
  package let validator: PayloadValidator
  package let foreground: ForegroundLoad
  package let log: Log
  /// Limits examinations and uploads to one at a time for each name.
  let names = KeyedSemaphore<String>()
  /// Limits calls of each plugin.
  private let calls = KeyedSemaphore<String>()

  /// Creates the intake of a drop folder.
  package init(
    store: Store, folder: DropFolder, validator: PayloadValidator, foreground: ForegroundLoad,
    log: Log
  ) {
    (self.store, self.folder, self.validator) = (store, folder, validator)
    (self.foreground, self.log) = (foreground, log)
  }

  /// The largest file, in bytes.
  package static let largestFile = 1 << 30
  /// Disk space that is reserved for the database, in bytes.
  package static let reservedSpace = 16 << 20
  /// Concurrent calls of one plugin; its other processes are left to devices' requests.
  private static let callsPerPlugin = 4

  /// The result of examining a file.
  package struct Examination: Sendable {
    package var asset: AssetRecord
    /// Why it must be examined again soon: it is incomplete, or the disk is full.
    package var pending: ServiceError?
  }

  /// Examines a file and records the result; reads its bytes only if it has changed.
  ///
  /// `spelling` is its name on disk, if known; `closed` tells whether its writer is known to have closed
  /// it. A file whose content cannot be used becomes an asset in the state `refused`.
  ///
  /// - Throws: `notFound` if there is no such file; another error if it cannot be examined now.
  package func examine(
    _ richType: String, _ name: AssetName, spelling: String? = nil, closed: Bool = false
  ) async throws(ServiceError) -> Examination {
    try await BlockingExecutor.intake.runUncancelled { () async throws(ServiceError) in
      try await examineInline(richType, name, spelling: spelling, closed: closed)
    }
  }

  /// The same on the calling thread, which must be one of the intake's, in a task that is not cancelled.
  ///
  /// An asset whose file is in another node's folder stays as it is.
  func examineInline(
    _ richType: String, _ name: AssetName, spelling: String?, closed: Bool
  ) async throws(ServiceError) -> Examination {
    try await names.withPermit(richType + "/" + name.value) { () async throws(ServiceError) in
      try await examineInTurn(richType, name, spelling: spelling, closed: closed)
    }
  }

  /// The same for a caller that has the name's permit; the content of a file that was just `put` was checked before.
  func examineInTurn(
    _ richType: String, _ name: AssetName, spelling: String?, closed: Bool,
    put: CheckedContent? = nil
  ) async throws(ServiceError) -> Examination {
    let known = try await ServiceError.mapping {
      try await store.assets.asset(richType, name.value)
    }
    guard isAsset(richType, name) else {
      // It may be listed as refused.
      if let known { return Examination(asset: known) }
      throw ServiceError(.notFound, "There is no asset \(name.value.quoted).")
    }
    if let known, folder.isElsewhere(known.stamp) {
      guard put != nil else { return Examination(asset: known) }
      try await requestRemoval(ofFileOf: known)
    }
    if known == nil { try await removeIfRequested(richType, name, spelling: spelling) }
    var found = try await result(richType, name, known, spelling, closed, put)
    if let known, !found.asset.isDescribed { found.asset.keepDescription(of: known) }
    try await record(found.asset, insteadOf: known, put: put)
    return found
  }

  /// Whether a file of this name can be an asset: temporary files and files that publish cannot.
  func isAsset(_ richType: String, _ name: AssetName) -> Bool {
    !AssetName.isForeign(name.value) && !folder.publishes(richType, name)
      && !AssetDescription.isName(name.value)
  }

  private func result(
    _ richType: String, _ name: AssetName, _ known: AssetRecord?, _ spelling: String?,
    _ closed: Bool, _ put: CheckedContent?
  ) async throws(ServiceError) -> Examination {
    do throws(ServiceError) {
      return try await check(richType, name, known, spelling, closed, put)
    } catch {
      switch error.code {
      case .notFound:
        if let known {
          // Which folder it came from is not known.
          guard folder.owns(known.stamp) else { return Examination(asset: known) }
          try await forget(richType, name.value)
        }
        throw error
      case .diskFull, .internalError, .pluginFailed, .pluginTimedOut:
        // Without a stamp, the next scan examines it again.
        let asset =
          known.flatMap {
            $0.blob == nil ? nil : $0.unchecked(error.reason, stamp: folder.unstamped)
          } ?? Self.refused(richType, name.value, error.reason, stamp: folder.unstamped)
        return Examination(asset: asset, pending: error.code == .diskFull ? error : nil)
      case let code where code.isPermanent:
        let stamp = AssetRecord.stamp(
          folder.stamp(richType, name, spelling: spelling) ?? "",
          described: folder.description(richType, name)?.stamp, by: validator.identity(richType))
        return Examination(
          asset: Self.refused(richType, name.value, error.reason, stamp: stamp))
      default:
        // The known content stays usable while the folder cannot be read.
        if let known, known.blob != nil { return Examination(asset: known) }
        throw error
      }
    }
  }

  /// Examines a file without recording the result: for a dry run, and in the publish folder.
  package func check(
    _ richType: String, _ name: AssetName, spelling: String?
  ) async throws(ServiceError) -> Examination {
    try await BlockingExecutor.intake.run { () async throws(ServiceError) in
      try await check(richType, name, nil, spelling, false, nil)
    }
  }

  private func check(
    _ richType: String, _ name: AssetName, _ known: AssetRecord?, _ spelling: String?,
    _ closed: Bool, _ put: CheckedContent?
  ) async throws(ServiceError) -> Examination {
    let file = try open(richType, name, spelling)
    let plugin = try validator.plugin(richType)
    var stamp = AssetRecord.stamp(
      file.stamp, described: folder.descriptionStamp(richType, name), by: plugin.identity)
    if let known, known.stamp == stamp { return Examination(asset: known) }
    let description = folder.description(richType, name)
    stamp = AssetRecord.stamp(
      file.stamp, described: description?.stamp, by: plugin.identity)
    if var known, known.isOf(file.stamp, plugin.identity) {
      guard known.stamp != stamp else { return Examination(asset: known) }
      let earlier = known
      known.stamp = stamp
      known.describe(by: description, insteadOf: earlier, plugin)
      return Examination(asset: known)
    }
    if let put, put.stamp == file.stamp + " " + plugin.identity {
      var asset = AssetRecord(richType, name, put.pinned, file, stamp)
      asset.details = put.details
      if !(await take(stateOf: put.pinned.digest, plugin, into: &asset)), plugin.manifest.isShared {
        asset.state = .preparing
      }
      asset.describe(by: description ?? put.description, insteadOf: known, plugin)
      return Examination(asset: asset)
    }
    guard file.size <= Self.largestFile else {
      throw ServiceError(
        .rejected, "The file is larger than the limit of \(Self.largestFile >> 20) MiB.")
    }
    if file.isBeingWritten(closed: closed) {
      // The previous content stays usable; the kernel reports when the file is closed.
      if let known, known.blob != nil { return Examination(asset: known) }
      var asset = AssetRecord(
        richType: richType, name: name.value, state: .preparing, bytes: file.size,
        modified: file.modified, stamp: folder.unstamped)
      asset.reason = ServiceError.incompleteFile.reason
      return Examination(asset: asset, pending: .incompleteFile)
    }
    guard file.size > 0 else { throw ServiceError(.rejected, "The file is empty.") }
    let (pinned, isNew) = try await pin(file)
    var asset = AssetRecord(richType, name, pinned, file, stamp)
    var known = known
    if known == nil, !isNew { known = await earlierName(of: asset) }
    // The same plugin has validated the same content before, under this or another name.
    if !isNew, await take(stateOf: pinned.digest, plugin, into: &asset) {
      asset.describe(by: description, insteadOf: known, plugin)
      return Examination(asset: asset)
    }
    do throws(ServiceError) {
      asset.details = try await details(
        RenditionSource(richType: richType, message: "", payload: name.value, pinned: pinned),
        plugin)
      // Many new files must not evict from the page cache what devices request.
      if names.count > 1 { store.blobs.dropFromPageCache(pinned.digest) }
      if plugin.manifest.isShared { asset.state = .preparing }
    } catch {
      guard error.code.isPermanent else { throw error }
      // Unusable content need not be kept.
      (asset.state, asset.reason, asset.blob) = (.refused, error.reason, nil)
    }
    asset.describe(by: description, insteadOf: known, plugin)
    return Examination(asset: asset)
  }

  /// Opens a file; also if it has got another of Unicode's forms of its name meanwhile.
  private func open(
    _ richType: String, _ name: AssetName, _ spelling: String?
  ) throws(ServiceError) -> AssetFile {
    do throws(ServiceError) {
      return try folder.open(richType, name, spelling: spelling)
    } catch {
      guard error.code == .notFound, !name.value.isPrintableASCII else { throw error }
      return try folder.open(richType, name)
    }
  }

  /// Gives an asset the state of another with the same content, which the same plugin has validated before; false if
  /// there is none.
  private func take(
    stateOf blob: Digest, _ plugin: Plugin, into asset: inout AssetRecord
  ) async -> Bool {
    let twin = try? await store.assets.asset(
      asset.richType, with: blob, stampEnding: plugin.identity)
    guard let twin else { return false }
    (asset.state, asset.reason, asset.details) = (twin.state, twin.reason, twin.details)
    return true
  }

  private func details(
    _ source: RenditionSource, _ plugin: Plugin
  ) async throws(ServiceError) -> String? {
    let width = min(Self.callsPerPlugin, plugin.manifest.workers.max ?? Self.callsPerPlugin)
    return try await calls.withPermit(source.richType, width: width) {
      () async throws(ServiceError) in
      try await foreground.track { () async throws(ServiceError) in try await validate(source) }
    }
  }

  /// The plugin's details; blocks the calling thread, which is one of the intake's.
  func validate(_ source: RenditionSource) async throws(ServiceError) -> String? {
    try await ServiceError.mapping {
      try await InlineWait.$isUnbounded.withValue(true) { try await validator.details(source) }
    }
  }

  /// Returns if a client may write or remove files of this name: whatever makes the server publish is only for
  /// the user in whose name it does.
  ///
  /// - Throws: `rejected` for a temporary file, which may be another program's; `forbidden`.
  package func requireName(
    _ richType: String, _ name: AssetName, mayPublish: Bool
  ) throws(ServiceError) {
    guard !AssetName.isForeign(name.value) else {
      throw ServiceError(
        .rejected,
        "\(name.value.quoted) is a name of other programs' own files, such as temporary ones. Rename it."
      )
    }
    guard !AssetDescription.isName(name.value) else {
      throw ServiceError(
        .rejected,
        "\(name.value.quoted) is no asset: such a file in the drop folder describes another. PATCH that one."
      )
    }
    guard mayPublish || !folder.publishes(richType, name) else {
      throw ServiceError(
        .forbidden,
        "\(name.value.quoted) is no asset: by such a file the server publishes in a user's name. Only that "
          + "user may write or remove it here.")
    }
  }

  /// The same for the file of this name as it is now: if it has a sidecar, other content would be published, too.
  func requireChange(
    _ richType: String, _ name: AssetName, mayPublish: Bool
  ) throws(ServiceError) {
    try requireName(richType, name, mayPublish: mayPublish)
    guard mayPublish || !folder.hasSidecar(richType, name) else {
      throw ServiceError(
        .forbidden,
        "There is a sidecar \(NotifySidecar.name(for: name.value).quoted), by which the server publishes the "
          + "file in a user's name. Only that user may replace or remove it here.")
    }
  }

  /// Copies the file's bytes into the store and detects their type; blocks while copying.
  ///
  /// - Returns: the blob, and whether its content is new.
  private func pin(
    _ file: AssetFile
  ) async throws(ServiceError) -> (pinned: PinnedAsset, isNew: Bool) {
    var status = statvfs()
    if statvfs(store.temporaryFolder, &status) == 0 { try status.requireSpace(for: file.size) }
    let type = MediaType.sniff(file.prefix(MediaType.prefixLength)).value
    let (blob, isNew) = try await ServiceError.mapping {
      try await store.blobs.addBlocking(copying: file.descriptor.number, limit: Self.largestFile)
    }
    return (PinnedAsset(blob, type: type, in: store), isNew)
  }

  /// Records a name that cannot be an asset's as refused.
  package func refuse(_ richType: String, _ name: String, _ reason: String, stamp: String) async {
    let known = try? await store.assets.asset(richType, name)
    try? await record(Self.refused(richType, name, reason, stamp: stamp), insteadOf: known)
  }

  /// Removes an asset whose file does not exist any more; notifications keep its content.
  ///
  /// With a stamp, only if the asset has that stamp.
  package func forget(
    _ richType: String, _ name: String, stamp: String? = nil
  ) async throws(ServiceError) {
    _ = try await ServiceError.mapping {
      try await store.assets.removeAsset(
        richType, name, stamp: stamp, event: AssetRecord.removalEvent(richType, name),
        expectedBatch: names.count)
    }
  }

  /// Without content that was `put`, the file is the drop folder's, also if a request has led to its examination.
  private func record(
    _ asset: AssetRecord, insteadOf known: AssetRecord?, put: CheckedContent? = nil
  ) async throws(ServiceError) {
    if let known, known.stamp == asset.stamp, !asset.differs(from: known) { return }
    var audit: AuditAction?
    if asset.blob != nil, asset.blob != known?.blob {
      audit =
        put?.isRestored == true
        ? .assetRestored : known?.blob == nil ? .assetAdded : .assetReplaced
    }
    try await ServiceError.mapping { [audit] in
      try await store.assets.putAsset(
        asset, event: asset.event, audit: audit, by: put == nil ? .dropFolder : nil,
        expectedBatch: names.count)
    }
    if asset.differs(from: known) { log(.info, "assets", asset.logLine) }
  }

  /// A refused asset.
  static func refused(
    _ richType: String, _ name: String, _ reason: String, stamp: String = ""
  ) -> AssetRecord {
    var asset = AssetRecord(
      richType: richType, name: name, state: .refused, bytes: 0,
      modified: Date(timeIntervalSince1970: 0), stamp: stamp)
    asset.reason = reason
    return asset
  }
}

extension ServiceError {
  /// For a file that is still being written.
  package static let incompleteFile = ServiceError(.incomplete, "The file is still being written.")
}

extension statvfs {
  /// Returns if a copy of so many bytes leaves enough space for the database.
  ///
  /// - Throws: `diskFull`.
  func requireSpace(for bytes: Int) throws(ServiceError) {
    let free = Int(clamping: f_bavail) * Int(clamping: f_frsize)
    guard free - AssetIntake.reservedSpace < bytes else { return }
    throw ServiceError(
      .diskFull, "The server's disk is full. The file will be accepted when there is enough space.",
      retryAfter: 30)
  }
}

extension AssetRecord {
  /// An asset that can be used, with the content of a file.
  fileprivate init(
    _ richType: String, _ name: AssetName, _ pinned: PinnedAsset, _ file: AssetFile,
    _ stamp: String
  ) {
    self.init(
      richType: richType, name: name.value, state: .ready, bytes: pinned.size,
      modified: file.modified, stamp: stamp)
    (blob, type) = (pinned.digest, pinned.type)
  }

  /// Whether it differs from the known record for readers of the catalogue.
  fileprivate func differs(from known: AssetRecord?) -> Bool {
    known?.state != state || known?.reason != reason || known?.blob != blob
      || known?.alt != alt || known?.focus != focus
      || known?.labels ?? [] != labels
  }

  /// Whether it is of a file in this state, examined by this plugin.
  fileprivate func isOf(_ file: String, _ plugin: String) -> Bool {
    stamp.hasPrefix(file + " ") && stamp.hasSuffix(" " + plugin)
  }

  /// The asset with its previous content, while the plugin fails on new content or the disk is full.
  fileprivate func unchecked(_ reason: String, stamp: String) -> AssetRecord {
    var asset = self
    asset.stamp = stamp
    asset.reason = "The new content is not used: \(reason) The previous content still is."
    return asset
  }

  /// Whether its file has new content that could not be checked.
  package var isUnchecked: Bool { stamp.isEmpty || stamp.hasSuffix(":") }
}
