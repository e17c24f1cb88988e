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
  /// `request` is what makes two uses of an idempotency key the same.
  func publish(
    _ draft: Draft, sender: String, request: [UInt8]
  ) async throws -> (notification: RichNotification, isNew: Bool) {
    let key = draft.idempotencyKey.map { IdempotencyKey($0, request: request) }
    if let key, let known = try store.notification(for: key, sender: sender) {
      return (known, false)
    }
    let addressees = try announcement.addressees(draft.audience)
    guard !addressees.users.isEmpty else { throw Refusal(422, "to matches nobody.") }
    var new = NewNotification(
      message: draft.message, richType: draft.richType, payload: draft.payload)
    let plugin = try validation.plugin(draft.richType)
    var subject = Subject(
      richType: draft.richType, message: draft.message, payload: draft.payload)
    if let asset = try await asset(draft, plugin) {
      guard asset.state == .ready, let digest = asset.blob, let type = asset.type else {
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
    if !plugin.manifest.perUser { try await prepare(subject, plugin) }
    (new.sender, new.recipients, new.to) = (sender, addressees.users.sorted(), draft.to)
    (new.expires, new.idempotencyKey) = (draft.expires, key)
    if announcement.isEmbedded { new.push = { draft.form.text(of: draft.content($0)).json } }
    new.pushes = announcement.pushes(of: draft, to: addressees.devices)
    return try await store.create(new)
  }

  /// Makes what the devices will ask for, so that nobody waits for it after the push.
  ///
  /// A profile that cannot be met is no reason not to send the others; a plugin that fails is.
  private func prepare(_ subject: Subject, _ plugin: Plugin) async throws(Refusal) {
    for options in [.none] + Profile.all.map(RenditionOptions.init) {
      do throws(Refusal) {
        _ = try await renderer.rendered(
          Wish(subject: subject, options: options, plugin: plugin, user: ""))
      } catch {
        guard options.profile != nil, error.status == 422 else { throw error }
      }
    }
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
      throw Refusal(422, "There is no asset \(name.value.quoted) in assets/\(draft.richType).")
    }
  }
}
