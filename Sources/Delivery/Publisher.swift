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
  /// The URL schemes that links may have beside `https`.
  package let linkSchemes: Set<String>

  /// To how many people a notification may be sent without another publisher's approval; nil for any number.
  package let approveAbove: Int?

  /// Creates a publisher.
  package init(
    assets: AssetIntake, renderer: Renderer, announcement: Announcement,
    linkSchemes: Set<String> = [], approveAbove: Int? = nil
  ) {
    (self.assets, self.renderer, self.announcement) = (assets, renderer, announcement)
    (self.linkSchemes, self.approveAbove) = (linkSchemes, approveAbove)
  }

  var store: Store { assets.store }
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
    var draft = draft
    var addressees = try await announcement.addressees(of: draft)
    var reach = RichNotification.Reach(addressees, announcement.lanes)
    let key = draft.idempotencyKey.map { IdempotencyKey($0, request: request) }
    if let key, let known = try await store.notifications.notification(for: key, sender: sender) {
      return Published(notification: known, isNew: false, reach: reach)
    }
    guard !addressees.users.isEmpty else { throw draft.noRecipientsError(addressees.unknown) }
    let values = try await announcement.values(for: draft, among: &addressees)
    if !values.skipped.isEmpty {
      reach = RichNotification.Reach(addressees, announcement.lanes)
      reach.skipped = values.skipped.count
    }
    var (new, media) = try await content(
      of: &draft, values, for: sender, using: assets, asset: asset)
    let recipients = values.recipients ?? addressees.users.sorted()
    // From now on: rendering may have taken minutes.
    let times = try announcement.times(of: draft, for: addressees, recipients)
    try draft.requireEnd(of: times)
    if let named = draft.namedAudience, draft.notBefore != nil {
      // Found again when it is due.
      (new.dueAudience, new.values) = (
        DueAudience(segment: named.segment, people: addressees.users.count), nil
      )
      addressees = Announcement.Addressees()
    } else {
      new.recipients = recipients
    }
    (new.sender, new.to) = (sender, draft.to)
    (new.idempotencyKey, new.isFromDevice, new.file) = (key, isFromDevice, file)
    if new.dueAudience == nil {
      announcement.announce(draft, with: media, to: addressees, at: times, in: &new)
    }
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
  /// is unchanged, the pinned content stays, too. A change by a device of its sender is counted. With an `editor`, it
  /// has the change in its history. `confirm` is called last before anything is stored.
  ///
  /// - Throws: `alreadyFetched` if a device has fetched it, `conflict` if another has taken its place.
  package func amend(
    _ old: StoredNotification, as draft: Draft, by editor: UserID? = nil,
    isFromDevice: Bool = false, using assets: UsableAssets,
    confirm: @Sendable () async throws -> Void = {}
  ) async throws -> StoredNotification {
    let amended = try await repeatedIfAnnounced {
      var new = try await change(of: old, as: draft, using: assets, keeping: old)
      new.isFromDevice = isFromDevice
      new.amendment = editor.map { NewAmendment(by: $0, of: draft.members(changedFrom: old)) }
      try await confirm()
      return try await store.notifications.amend(old.id, with: new)
    }
    guard let amended else {
      let later = try await store.notifications.notification(old.id)?.replacedBy
      throw later.map {
        ServiceError(.conflict, "Notification \($0) has taken its place; change that one.")
      } ?? ServiceError(.alreadyFetched, "A device has already fetched it; send another one.")
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
    try await repeatedIfAnnounced {
      var new = try await change(of: old, as: draft, using: .all, asset: asset)
      (new.file, new.idempotencyKey) = (
        file, draft.idempotencyKey.map { IdempotencyKey($0, request: request) }
      )
      return try await store.notifications.amend(old.id, with: new, replacing: old.blob?.digest)
    }
  }

  /// Makes a change, and once more if the recipients of its notification were found meanwhile.
  private func repeatedIfAnnounced(
    _ change: () async throws -> StoredNotification?
  ) async throws -> StoredNotification? {
    do { return try await change() } catch let error as StoreError where error.code == .changed {
      return try await change()
    }
  }

  /// A change for the store, with the pushes to those who are recipients already; `kept` is whose content stays if the
  /// payload is the same, and `asset` the payload's.
  private func change(
    of old: StoredNotification, as draft: Draft, using assets: UsableAssets,
    keeping kept: StoredNotification? = nil, asset: AssetRecord? = nil
  ) async throws -> NotificationInsert {
    // First: if they are found later, all that follows is outdated, which the store notices.
    let awaitsAudience = try await store.notifications.awaitsAudience(old.id)
    var draft = draft
    let values = try await self.values(of: draft, again: old)
    var (new, media) = try await content(
      of: &draft, values, for: old.sender, using: assets, insteadOf: kept, asset: asset)
    (new.sender, new.awaitsAudience) = (old.sender, awaitsAudience)
    if !awaitsAudience { try await announce(draft, with: media, again: old, in: &new) }
    return new
  }

  /// What the placeholders of a changed notification stand for: what they stood for, and new ones.
  private func values(
    of draft: Draft, again old: StoredNotification
  ) async throws -> Announcement.Values {
    guard !draft.message.placeholders.all.isEmpty else { return Announcement.Values() }
    try await store.notifications.completeAudience(of: old.id)
    var recipients = Announcement.Addressees()
    recipients.users = Set(try await store.notifications.receipts(of: old.id).map(\.userID))
    let stored = try await store.values(of: [old.id], users: recipients.users.sorted())
    return try await announcement.values(
      for: draft, among: &recipients, storedBefore: stored[old.id] ?? [:])
  }

  /// Adds the pushes of a changed notification to those of its recipients who match the audience now.
  private func announce(
    _ draft: Draft, with media: PushedMedia?, again old: StoredNotification,
    in new: inout NotificationInsert
  ) async throws {
    try await store.notifications.completeAudience(of: old.id)
    let recipients = Set(try await store.notifications.receipts(of: old.id).map(\.userID))
    let addressees = try await announcement.addressees(of: draft).among(recipients)
    let times = try announcement.times(of: draft, for: addressees, recipients.sorted())
    try draft.requireEnd(of: times)
    announcement.announce(draft, with: media, to: addressees, at: times, in: &new)
  }

  /// The draft for the store, validated by its plugin, and with every profile rendered, in the user's turn.
  ///
  /// A draft that names no alternative text gets its asset's.
  func content(
    of draft: inout Draft, _ values: Announcement.Values, for user: UserID?,
    using assets: UsableAssets,
    insteadOf old: StoredNotification? = nil, asset: AssetRecord? = nil
  ) async throws -> (new: NotificationInsert, media: PushedMedia?) {
    var new = NotificationInsert(
      message: draft.message.text, richType: draft.media?.richType ?? "",
      payload: draft.media?.payload ?? "")
    (new.members, new.form) = (draft.message.members, draft.storedForm)
    new.values = values.stored
    new.replaces = draft.message.replaces
    (new.notBefore, new.expires) = (draft.notBefore, draft.expires)
    (new.localTime, new.perMinute) = (draft.localTime?.text, draft.perMinute)
    new.approvalAbove = approveAbove
    guard let media = draft.media else {
      try announcement.requireRoom(for: draft, values, from: user, with: nil, "")
      return (new, nil)
    }
    let (content, plugin) = try await validated(
      media, draft, for: user, using: assets, insteadOf: old, asset: asset)
    (new.payload, new.details) = (content.source.payload, content.details)
    (new.blob, new.blobType, new.focus) = (content.blob, content.blobType, content.source.focus)
    if draft.take(alt: content.alt) {
      (new.members, new.hasAssetAlt) = (draft.message.members, true)
    }
    var pushed: PushedMedia?
    if plugin.manifest.isShared {
      pushed = PushedMedia(renditions: try await prepare(content.source, plugin, for: user))
    }
    try announcement.requireRoom(
      for: draft, values, from: user, with: pushed, content.source.content)
    return (new, pushed)
  }

  /// Media that a plugin has accepted.
  struct ValidatedMedia {
    /// What renditions are made of.
    var source: RenditionSource
    /// What the plugin said of it, as JSON text.
    var details: String?
    /// The content to pin, and its media type.
    var blob: Blob?
    var blobType: String?
    /// The alternative text of its asset.
    var alt: String?

    /// Takes the content of a notification that is there already.
    fileprivate mutating func take(_ other: StoredNotification, in store: Store) {
      let stored = RenditionSource(other, in: store)
      (source.pinned, source.focus) = (stored.pinned, stored.focus)
      (blob, blobType, details) = (other.blob, other.blobType, other.details)
    }
  }

  /// The draft's media, validated by its plugin.
  func validated(
    _ media: (richType: String, payload: String), _ draft: Draft, for user: UserID?,
    using usable: UsableAssets, insteadOf old: StoredNotification? = nil, asset: AssetRecord? = nil
  ) async throws -> (content: ValidatedMedia, plugin: Plugin) {
    let (richType, payload) = media
    let plugin = try plugin(richType, using: usable)
    var content = ValidatedMedia(
      source: RenditionSource(
        richType: richType, message: draft.message.text, payload: payload))
    if let old, old.blob != nil, old.richType == richType, old.payload == payload {
      content.take(old, in: store)
      if old.hasAssetAlt { content.alt = old.plainAlt }
    } else if case .sent(let user) = usable {
      if let earlier = try await store.notifications.notification(
        richType, payload: AssetName(payload)?.value ?? payload, sentTo: user),
        let blob = earlier.blob
      {
        try await store.blobs.ensureUploaded(blob)
        content.take(earlier, in: store)
        content.alt = earlier.plainAlt
      } else {
        guard plugin.takesLiteralContent else { throw Self.unusable }
        content.source.payload = try assets.validator.literal(payload, for: plugin)
        content.details = try await assets.validator.details(content.source)
      }
    } else if let asset =
      if let asset { asset } else {
        try await self.asset(richType, payload, plugin)
      }
    {
      guard asset.state != .refused, let digest = asset.blob, let type = asset.type else {
        throw ServiceError(
          .assetNotReady,
          "The asset \(asset.name.quoted) is not usable. \(asset.reason ?? "It is not ready.")")
      }
      let blob = Blob(digest: digest, size: asset.bytes)
      try await store.blobs.ensureUploaded(blob)
      (content.blob, content.blobType, content.details) = (blob, type, asset.details)
      content.alt = asset.alt
      // In the form of Unicode that the catalogue has.
      content.source = RenditionSource(
        richType: richType, message: draft.message.text, payload: asset.name,
        pinned: PinnedAsset(blob, type: type, in: store), focus: asset.focus)
    } else {
      content.source.payload = try assets.validator.literal(payload, for: plugin)
      do throws(ServiceError) {
        content.details = try await renderer.inTurn(of: user, plugin) {
          [source = content.source] () async throws(ServiceError) in
          try await assets.validator.details(source)
        }
      } catch {
        // It may be the name of an asset that looks a little different.
        guard error.code == .rejected, AssetName(payload) != nil,
          let similar = await assets.suggestion(for: payload, richType)
        else { throw error }
        throw ServiceError(
          .rejected, "\(error.reason) Among the assets \(similar)", retryAfter: error.retryAfter)
      }
    }
    return (content, plugin)
  }

  /// The plugin of a rich type.
  ///
  /// - Throws: if the type does not exist; who may not list assets gets the answer for any of them.
  private func plugin(_ richType: String, using usable: UsableAssets) throws(ServiceError) -> Plugin
  {
    do { return try assets.validator.plugin(richType) } catch {
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
  /// A plugin that does not take literal content accepts only files.
  private func asset(
    _ richType: String, _ payload: String, _ plugin: Plugin
  ) async throws(ServiceError) -> AssetRecord? {
    let takesLiterals = plugin.takesLiteralContent
    guard let name = AssetName(payload) else {
      if takesLiterals { return nil }
      let problem = AssetName.problem(with: payload) ?? "It is not a file's name."
      throw ServiceError(
        .rejected, "\(payload.quoted) names no asset. \(problem)")
    }
    do throws(ServiceError) {
      return try await assets.examine(richType, name).asset
    } catch {
      guard error.code == .notFound else { throw error }
      if takesLiterals { return nil }
      let similar = await assets.suggestion(for: name.value, richType)
      throw ServiceError(
        .rejected,
        "There is no asset \(name.value.quoted) in assets/\(richType)"
          + (similar.map { "; " + $0 } ?? "."))
    }
  }
}

extension StoredNotification {
  /// The alternative text without placeholders, as an asset has it.
  fileprivate var plainAlt: String? {
    said.alt.map { PlaceholderText($0).text(with: said.variables ?? [:], in: .text) }
  }
}

extension RichNotification.Reach {
  fileprivate init(_ addressees: Announcement.Addressees, _ lanes: PlatformLanes) {
    self.init(
      users: addressees.users.count, devices: addressees.devices.count,
      unknown: addressees.unknown, devicesWithoutLane: addressees.unreached(by: lanes))
  }
}
