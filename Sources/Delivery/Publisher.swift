import FoundationEssentials
package import Intake
package import Media
import PluginHost
import Push
import RichPushAPI
package import Store

/// Creates notifications from drafts: validated, pinned, rendered, and only then pushed.
package struct Publisher: Sendable {
  let store: Store
  let assets: AssetIntake
  let validator: PayloadValidator
  let renderer: Renderer
  /// Addresses the pushes.
  package let announcement: Announcement

  /// Creates a publisher.
  package init(
    store: Store, assets: AssetIntake, validator: PayloadValidator, renderer: Renderer,
    announcement: Announcement
  ) {
    (self.store, self.assets, self.validator) = (store, assets, validator)
    (self.renderer, self.announcement) = (renderer, announcement)
  }

  /// Creates the notification; when this returns, it and its pushes survive a power cut.
  ///
  /// `request` is what makes two uses of an idempotency key the same; `asset` is what the payload
  /// names, when the caller has looked at it already.
  package func publish(
    _ draft: Draft, sender: UserID, request: [UInt8], asset: AssetRecord? = nil
  ) async throws -> Published {
    let addressees = try await announcement.addressees(draft.audience)
    let key = draft.idempotencyKey.map { IdempotencyKey($0, request: request) }
    if let key, let known = try store.notification(for: key, sender: sender) {
      return Published(notification: known, isNew: false, addressees: addressees)
    }
    guard !addressees.users.isEmpty else { throw draft.isForNobody(addressees.unknown) }
    var (new, media) = try await content(of: draft, asset: asset)
    (new.sender, new.recipients, new.to) = (sender, addressees.users.sorted(), draft.to)
    new.idempotencyKey = key
    announcement.announce(draft, with: media, to: addressees, in: &new)
    let (notification, isNew) = try await store.create(new)
    return Published(notification: notification, isNew: isNew, addressees: addressees)
  }

  /// A notification that was created, now or by an earlier request with the same key.
  package struct Published: Sendable {
    package let notification: StoredNotification
    package let isNew: Bool
    package let addressees: Announcement.Addressees
  }

  /// Changes the content of a notification that nobody has fetched, and pushes it again.
  ///
  /// The recipients stay; pushes go to the devices that are registered now. A file that the
  /// draft names as before stays the one that was pinned.
  ///
  /// - Throws: `ServiceError` 409 when a device has fetched it already.
  package func amend(_ old: StoredNotification, as draft: Draft) async throws -> StoredNotification
  {
    var (new, media) = try await content(of: draft, insteadOf: old)
    let recipients = Set(try store.receipts(of: old.id).map(\.userID))
    let addressees = try await announcement.addressees(draft.audience).among(recipients)
    announcement.announce(draft, with: media, to: addressees, in: &new)
    guard let amended = try await store.amend(old.id, with: new) else {
      throw ServiceError(
        .alreadyFetched, "A device has fetched it already: send another notification.")
    }
    return amended
  }

  /// The draft as the store takes it, validated by its plugin and with every profile rendered.
  private func content(
    of draft: Draft, insteadOf old: StoredNotification? = nil, asset: AssetRecord? = nil
  ) async throws -> (new: NotificationInsert, media: PushedMedia?) {
    var new = NotificationInsert(
      message: draft.message, richType: draft.richType, payload: draft.payload)
    (new.notBefore, new.expires, new.form) = (draft.notBefore, draft.expires, draft.storedForm)
    let plugin = try validator.plugin(draft.richType)
    var source = RenditionSource(
      richType: draft.richType, message: draft.message, payload: draft.payload)
    if let old, let blob = old.blob, old.richType == draft.richType, old.payload == draft.payload {
      source.pinned = RenditionSource(old, in: store).pinned
      (new.blob, new.blobType, new.details) = (blob, old.blobType, old.details)
    } else if let asset = if let asset { asset } else { try await self.asset(draft, plugin) } {
      guard asset.state != .refused, let digest = asset.blob, let type = asset.type else {
        throw ServiceError(
          .assetNotReady,
          "The asset \(asset.name.quoted) is not usable. \(asset.reason ?? "It is not ready.")"
        )
      }
      source.pinned = PinnedAsset(
        digest: digest, size: asset.bytes, type: type, path: store.blobs.path(of: digest))
      (new.blob, new.blobType) = (Blob(digest: digest, size: asset.bytes), type)
      new.details = asset.details
    } else {
      new.details = try await validator.details(source)
    }
    guard plugin.manifest.isShared else { return (new, nil) }
    let rendition = try await prepare(source, plugin)
    return (
      new, rendition.map { PushedMedia($0, of: source, for: draft, now: Date()) }
    )
  }

  /// Renders what the devices will request, so that none waits for it after the push.
  ///
  /// A profile that cannot be met is no reason not to send the others; a plugin that fails is.
  ///
  /// - Returns: the rendition that pushes have a link to.
  private func prepare(_ source: RenditionSource, _ plugin: Plugin) async throws(ServiceError)
    -> StoredMedia?
  {
    var pushed: StoredMedia?
    for options in [.none] + Profile.all.map(RenditionOptions.init) {
      do throws(ServiceError) {
        let rendered = try await renderer.rendition(
          RenditionRequest(source: source, options: options, plugin: plugin))
        // What is rendered for each request cannot be rendered in advance.
        guard let content = rendered.stored else { return pushed }
        if options.profile?.name == PushedMedia.profile { pushed = content }
      } catch {
        guard options.profile != nil, error.code == .rejected else { throw error }
      }
    }
    return pushed
  }

  /// The asset that the payload names; nil when the payload is literal content.
  ///
  /// Literal content is text, so a plugin that does not accept `text/plain` takes files only.
  private func asset(_ draft: Draft, _ plugin: Plugin) async throws(ServiceError) -> AssetRecord? {
    let takesText = plugin.accepts("text/plain")
    guard let name = AssetName(draft.payload) else {
      if takesText { return nil }
      let problem = AssetName.problem(with: draft.payload) ?? "It is not a file's name."
      throw ServiceError(.rejected, "\(draft.payload.quoted) names no asset. \(problem)")
    }
    do throws(ServiceError) {
      return try await assets.examine(draft.richType, name).asset
    } catch {
      guard error.code == .notFound else { throw error }
      if takesText { return nil }
      let like = try? store.assetName(like: name.value, richType: draft.richType)
      throw ServiceError(
        .rejected,
        "There is no asset \(name.value.quoted) in assets/\(draft.richType)"
          + (like.map { "; there is \($0.quoted)." } ?? "."))
    }
  }
}
