import FoundationEssentials
import HTTP
import PluginHost
import Push
import Store

/// Turns a draft into a notification: validated, pinned, rendered, and only then pushed.
struct Publisher: Sendable {
  let store: Store
  let assets: Assets
  let validation: Validation
  let renderer: Renderer
  let announcement: Announcement

  /// Creates the notification; when this returns, it and its pushes survive a power cut.
  ///
  /// `request` is what makes two uses of an idempotency key the same; `asset` is what the payload
  /// names, when the caller has looked at it already.
  func publish(
    _ draft: Draft, sender: UserID, request: [UInt8], asset: Asset? = nil
  ) async throws -> Published {
    let addressees = try await announcement.addressees(draft.audience)
    let key = draft.idempotencyKey.map { IdempotencyKey($0, request: request) }
    if let key, let known = try store.notification(for: key, sender: sender) {
      return Published(notification: known, isNew: false, addressees: addressees)
    }
    guard !addressees.users.isEmpty else { throw Refusal(422, "to matches nobody.") }
    var (new, media) = try await content(of: draft, asset: asset)
    (new.sender, new.recipients, new.to) = (sender, addressees.users.sorted(), draft.to)
    new.idempotencyKey = key
    announcement.announce(draft, with: media, to: addressees, in: &new)
    let (notification, isNew) = try await store.create(new)
    return Published(notification: notification, isNew: isNew, addressees: addressees)
  }

  /// A notification that was created, now or by an earlier request with the same key.
  struct Published: Sendable {
    let notification: RichNotification
    let isNew: Bool
    let addressees: Announcement.Addressees
  }

  /// Gives a notification that nobody has fetched another content, and pushes it again.
  ///
  /// The recipients stay; of their devices those are told that are registered now. A file that the
  /// draft names as before stays the one that was pinned.
  ///
  /// - Throws: `Refusal` 409 when a device has fetched it already.
  func amend(_ old: RichNotification, as draft: Draft) async throws -> RichNotification {
    var (new, media) = try await content(of: draft, insteadOf: old)
    let recipients = Set(try store.receipts(of: old.id).map(\.userID))
    let addressees = try await announcement.addressees(draft.audience).among(recipients)
    announcement.announce(draft, with: media, to: addressees, in: &new)
    guard let amended = try await store.amend(old.id, with: new) else {
      throw Refusal(409, "A device has fetched it already: send another notification.")
    }
    return amended
  }

  /// The draft as the store takes it, validated by its plugin and with every profile rendered.
  private func content(
    of draft: Draft, insteadOf old: RichNotification? = nil, asset: Asset? = nil
  ) async throws -> (new: NewNotification, media: PushedMedia?) {
    var new = NewNotification(
      message: draft.message, richType: draft.richType, payload: draft.payload)
    (new.notBefore, new.expires, new.form) = (draft.notBefore, draft.expires, draft.storedForm)
    let plugin = try validation.plugin(draft.richType)
    var subject = Subject(
      richType: draft.richType, message: draft.message, payload: draft.payload)
    if let old, let blob = old.blob, old.richType == draft.richType, old.payload == draft.payload {
      subject.pinned = Subject(old, in: store).pinned
      (new.blob, new.blobType, new.details) = (blob, old.blobType, old.details)
    } else if let asset = if let asset { asset } else { try await self.asset(draft, plugin) } {
      guard asset.state != .refused, let digest = asset.blob, let type = asset.type else {
        throw Refusal(
          422, "The asset \(asset.name.quoted) is not usable. \(asset.reason ?? "It is not ready.")"
        )
      }
      subject.pinned = Pinned(
        digest: digest, size: asset.bytes, type: type, path: store.blobs.path(of: digest))
      (new.blob, new.blobType) = (Blob(digest: digest, size: asset.bytes), type)
      new.details = asset.details
    } else {
      new.details = try await validation.details(subject)
    }
    guard !plugin.manifest.perUser else { return (new, nil) }
    let rendition = try await prepare(subject, plugin)
    return (
      new, rendition.map { PushedMedia($0, of: subject, for: draft, now: Date()) }
    )
  }

  /// Makes what the devices will ask for, so that nobody waits for it after the push.
  ///
  /// A profile that cannot be met is no reason not to send the others; a plugin that fails is.
  ///
  /// - Returns: the rendition that pushes carry an address of.
  private func prepare(_ subject: Subject, _ plugin: Plugin) async throws(Refusal) -> Content? {
    var pushed: Content?
    for options in [.none] + Profile.all.map(RenditionOptions.init) {
      do throws(Refusal) {
        let rendered = try await renderer.rendered(
          Wish(subject: subject, options: options, plugin: plugin, user: ""))
        if case .content(let content) = rendered, options.profile?.name == PushedMedia.profile {
          pushed = content
        }
      } catch {
        guard options.profile != nil, error.status == 422 else { throw error }
      }
    }
    return pushed
  }

  /// The asset that the payload names; nil when the payload is literal content.
  ///
  /// Literal content is text, so a plugin that does not accept `text/plain` takes files only.
  private func asset(_ draft: Draft, _ plugin: Plugin) async throws(Refusal) -> Asset? {
    let takesText = plugin.accepts("text/plain")
    guard let name = AssetName(draft.payload) else {
      if takesText { return nil }
      throw Refusal(422, "\(draft.payload.quoted) cannot be the name of an asset.")
    }
    do throws(Refusal) {
      return try await assets.look(draft.richType, name)
    } catch {
      guard error.status == 404 else { throw error }
      if takesText { return nil }
      let like = try? store.assetName(like: name.value, richType: draft.richType)
      throw Refusal(
        422,
        "There is no asset \(name.value.quoted) in assets/\(draft.richType)"
          + (like.map { "; there is \($0.quoted)." } ?? "."))
    }
  }
}
