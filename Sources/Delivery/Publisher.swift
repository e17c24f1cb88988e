import FoundationEssentials
package import Intake
package import Media
import PluginHost
import Primitives
import Push
package import RichPushAPI
package import Store

/// Creates notifications from drafts: validates and pins the content, renders it, and only then pushes.
package struct Publisher: Sendable {
  let assets: AssetIntake
  let renderer: Renderer
  /// Finds the recipients and creates the pushes.
  package let announcement: Announcement

  /// Creates a publisher.
  package init(assets: AssetIntake, renderer: Renderer, announcement: Announcement) {
    (self.assets, self.renderer, self.announcement) = (assets, renderer, announcement)
  }

  private var store: Store { assets.store }
  /// Limits dry runs to one at a time for each user.
  let dryRuns = KeyedSemaphore<UserID>(maximumWaiters: UserQuota.waitingDryRuns)

  /// Creates a notification; when this returns, it and its pushes survive a power failure.
  ///
  /// `request` must be equal for all uses of an idempotency key; `asset` is the payload's asset, if the
  /// caller has examined it already, and `file` where it is in the drop folder, if that is what is published. The payload may name only `assets`. What a device sends to its own
  /// user is counted. `confirm` is called last before anything is stored, since checking the content may take minutes.
  package func publish(
    _ draft: Draft, sender: UserID, isFromDevice: Bool = false, request: [UInt8],
    using assets: UsableAssets, asset: AssetRecord? = nil, file: PublishedFile? = nil,
    confirm: @Sendable () async throws -> Void = {}
  ) async throws -> Published {
    var addressees = try await announcement.addressees(draft.audience)
    let reach = RichNotification.Reach(addressees, announcement.lanes)
    let key = draft.idempotencyKey.map { IdempotencyKey($0, request: request) }
    if let key, let known = try await store.notifications.notification(for: key, sender: sender) {
      return Published(notification: known, isNew: false, reach: reach)
    }
    guard !addressees.users.isEmpty else { throw draft.noRecipientsError(addressees.unknown) }
    var (new, media) = try await content(of: draft, for: sender, using: assets, asset: asset)
    (new.sender, new.recipients, new.to) = (sender, addressees.users.sorted(), draft.to)
    (new.idempotencyKey, new.isFromDevice, new.file) = (key, isFromDevice, file)
    announcement.announce(draft, with: media, to: addressees, in: &new)
    // A million of them take much memory.
    addressees = Announcement.Addressees()
    try await confirm()
    let (notification, isNew) = try await store.notifications.create(new)
    return Published(notification: notification, isNew: isNew, reach: reach)
  }

  /// A notification that was created, now or by an earlier request with the same key.
  package struct Published: Sendable {
    package let notification: StoredNotification
    package let isNew: Bool
    /// Whom it reaches, as of this request.
    package let reach: RichNotification.Reach
  }

  /// Changes the content of a notification that no device has fetched, and pushes it again.
  ///
  /// The recipients stay the same; pushes are sent to the devices that are registered now. If the payload
  /// is unchanged, the pinned content stays, too. A change by a device of its sender is counted. `confirm` is called
  /// last before anything is stored.
  ///
  /// - Throws: `alreadyFetched` if a device has fetched it.
  package func amend(
    _ old: StoredNotification, as draft: Draft, isFromDevice: Bool = false,
    using assets: UsableAssets, confirm: @Sendable () async throws -> Void = {}
  ) async throws -> StoredNotification {
    var (new, media) = try await content(
      of: draft, for: old.sender, using: assets, insteadOf: old)
    try await announce(draft, with: media, again: old, in: &new)
    new.isFromDevice = isFromDevice
    try await confirm()
    guard let amended = try await store.notifications.amend(old.id, with: new) else {
      throw ServiceError(
        .alreadyFetched, "A device has already fetched it; send another notification.")
    }
    return amended
  }

  /// Replaces the content of a notification that a file of the drop folder was published as, also if devices have
  /// fetched it, and pushes it again; nil if it has expired, or has other content than that file had.
  ///
  /// `asset` is the file as it is now.
  func replace(
    _ old: StoredNotification, as draft: Draft, with asset: AssetRecord, file: PublishedFile,
    request: [UInt8]
  ) async throws -> StoredNotification? {
    var (new, media) = try await content(of: draft, for: old.sender, using: .all, asset: asset)
    try await announce(draft, with: media, again: old, in: &new)
    (new.file, new.idempotencyKey) = (
      file, draft.idempotencyKey.map { IdempotencyKey($0, request: request) }
    )
    return try await store.notifications.amend(old.id, with: new, replacing: old.blob?.digest)
  }

  /// Adds the pushes of a changed notification to those of its recipients who match the audience now.
  private func announce(
    _ draft: Draft, with media: PushedMedia?, again old: StoredNotification,
    in new: inout NotificationInsert
  ) async throws {
    try await store.notifications.completeAudience(of: old.id)
    let recipients = Set(try await store.notifications.receipts(of: old.id).map(\.userID))
    let addressees = try await announcement.addressees(draft.audience).among(recipients)
    new.sender = old.sender
    announcement.announce(draft, with: media, to: addressees, in: &new)
  }

  /// The draft for the store, validated by its plugin, and with every profile rendered, in the user's turn.
  private func content(
    of draft: Draft, for user: UserID?, using assets: UsableAssets,
    insteadOf old: StoredNotification? = nil, asset: AssetRecord? = nil
  ) async throws -> (new: NotificationInsert, media: PushedMedia?) {
    let (new, source, plugin) = try await validated(
      draft, for: user, using: assets, insteadOf: old, asset: asset)
    guard plugin.manifest.isShared else { return (new, nil) }
    let renditions = try await prepare(source, plugin, for: user)
    return (new, PushedMedia(renditions, of: source, for: draft, now: Date()))
  }

  /// The draft for the store, validated by its plugin, and what its renditions are made of.
  func validated(
    _ draft: Draft, for user: UserID?, using usable: UsableAssets,
    insteadOf old: StoredNotification? = nil,
    asset: AssetRecord? = nil
  ) async throws -> (new: NotificationInsert, source: RenditionSource, plugin: Plugin) {
    var new = NotificationInsert(
      message: draft.message, richType: draft.richType, payload: draft.payload)
    (new.notBefore, new.expires, new.form) = (draft.notBefore, draft.expires, draft.storedForm)
    let plugin = try plugin(of: draft, using: usable)
    var source = RenditionSource(
      richType: draft.richType, message: draft.message, payload: draft.payload)
    if let old, let blob = old.blob, old.richType == draft.richType, old.payload == draft.payload {
      source.pinned = RenditionSource(old, in: store).pinned
      (new.blob, new.blobType, new.details) = (blob, old.blobType, old.details)
    } else if case .sent(let user) = usable {
      let payload = AssetName(draft.payload)?.value ?? draft.payload
      if let earlier = try await store.notifications.notification(
        draft.richType, payload: payload, sentTo: user), let blob = earlier.blob
      {
        try await store.blobs.ensureUploaded(blob)
        source.pinned = RenditionSource(earlier, in: store).pinned
        (new.blob, new.blobType, new.details) = (blob, earlier.blobType, earlier.details)
      } else {
        guard plugin.accepts("text/plain") else { throw Self.unusable }
        new.details = try await assets.validator.details(source)
      }
    } else if let asset = if let asset { asset } else { try await self.asset(draft, plugin) } {
      guard asset.state != .refused, let digest = asset.blob, let type = asset.type else {
        throw ServiceError(
          .assetNotReady,
          "The asset \(asset.name.quoted) is not usable. \(asset.reason ?? "It is not ready.")")
      }
      let blob = Blob(digest: digest, size: asset.bytes)
      try await store.blobs.ensureUploaded(blob)
      (new.blob, new.blobType, new.details) = (blob, type, asset.details)
      // In the form of Unicode that the catalogue has.
      new.payload = asset.name
      source = RenditionSource(
        richType: draft.richType, message: draft.message, payload: asset.name,
        pinned: PinnedAsset(blob, type: type, in: store))
    } else {
      do throws(ServiceError) {
        new.details = try await renderer.inTurn(of: user, plugin) {
          [source] () async throws(ServiceError) in try await assets.validator.details(source)
        }
      } catch {
        // It may be the name of an asset that looks a little different.
        guard error.code == .rejected, AssetName(draft.payload) != nil,
          let similar = await assets.suggestion(for: draft.payload, draft.richType)
        else { throw error }
        throw ServiceError(
          .rejected, "\(error.reason) Among the assets \(similar)", retryAfter: error.retryAfter)
      }
    }
    return (new, source, plugin)
  }

  /// The plugin of the draft's rich type.
  ///
  /// - Throws: if the type does not exist; who may not list assets gets the answer for any of them.
  private func plugin(of draft: Draft, using usable: UsableAssets) throws(ServiceError) -> Plugin {
    do { return try assets.validator.plugin(draft.richType) } catch {
      throw usable == .all ? error : Self.unusable
    }
  }

  /// For a payload that is neither text for its plugin nor an asset that the sender was sent, whether or not there
  /// is one.
  private static let unusable = ServiceError(
    .rejected,
    "This account can send itself text that the rich type accepts, and content that it was sent.")

  /// Renders every profile, so that no device has to wait after the push.
  ///
  /// A plugin may reject a profile, but not the original.
  ///
  /// - Returns: the renditions that pushes have links to, by profile.
  /// - Throws: why the plugin failed, or rejected the original.
  private func prepare(
    _ source: RenditionSource, _ plugin: Plugin, for user: UserID?
  ) async throws(ServiceError) -> [String: StoredMedia] {
    var pushed: [String: StoredMedia] = [:]
    for options in [.none] + Profile.all.map(RenditionOptions.init) {
      do throws(ServiceError) {
        let rendered = try await renderer.rendition(
          RenditionRequest(source: source, options: options, plugin: plugin), for: user)
        // A rendition that is not stored is made for each request, so not in advance.
        guard let content = rendered.stored else { return pushed }
        if let name = options.profile?.name, PushedMedia.profiles.contains(name) {
          pushed[name] = content
        }
      } catch {
        guard options.profile != nil, error.code == .rejected else { throw error }
      }
    }
    return pushed
  }

  /// The payload's asset; nil if the payload is literal content.
  ///
  /// Literal content is text: a plugin that does not accept `text/plain` accepts only files.
  private func asset(_ draft: Draft, _ plugin: Plugin) async throws(ServiceError) -> AssetRecord? {
    let acceptsText = plugin.accepts("text/plain")
    guard let name = AssetName(draft.payload) else {
      if acceptsText { return nil }
      let problem = AssetName.problem(with: draft.payload) ?? "It is not a file's name."
      throw ServiceError(
        .rejected, "\(draft.payload.quoted) names no asset. \(problem)")
    }
    do throws(ServiceError) {
      return try await assets.examine(draft.richType, name).asset
    } catch {
      guard error.code == .notFound else { throw error }
      if acceptsText { return nil }
      let similar = await assets.suggestion(for: name.value, draft.richType)
      throw ServiceError(
        .rejected,
        "There is no asset \(name.value.quoted) in assets/\(draft.richType)"
          + (similar.map { "; " + $0 } ?? "."))
    }
  }
}

extension RichNotification.Reach {
  fileprivate init(_ addressees: Announcement.Addressees, _ lanes: PlatformLanes) {
    self.init(
      users: addressees.users.count, devices: addressees.devices.count,
      unknown: addressees.unknown, devicesWithoutLane: addressees.unreached(by: lanes))
  }
}
