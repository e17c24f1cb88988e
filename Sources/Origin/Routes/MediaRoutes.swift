import FoundationEssentials
import HTTP
import Media
import PluginHost
import RichPushAPI
import Store

/// `GET /api/notifications/<id>`: a rendition of the notification's content.
struct MediaRoutes: Sendable {
  let store: Store
  let host: PluginHost
  let renderer: Renderer
  let fetches: FetchRecorder
  let versions: PluginVersionCache
  let resolved = ResolvedMediaCache()

  /// The route's name in metrics.
  private static let route = "/api/notifications/{}"

  /// The cached response to a recipient's GET of the target; nil on a miss.
  ///
  /// Queries the store only for the user's first fetch.
  func cachedResponse(for target: String, to caller: Caller) -> ResolvedMedia? {
    let (user, device) = (caller.id, caller.device)
    guard let media = cachedMedia(for: target), media.content != nil,
      let id = media.rendition.source.id
    else { return nil }
    if !fetches.hasRecorded(id, by: user, on: device) {
      guard (try? store.loopReads.isRecipient(id, user: user)) == true else { return nil }
      fetches.record(id, by: user, on: device)
    }
    return media
  }

  private func cachedMedia(for target: String) -> ResolvedMedia? {
    let now = Date()
    let epoch = versions.epoch(at: now)
    return resolved.find(target, at: now, in: epoch) {
      versions.isCurrent($0.rendition.plugin, in: epoch)
    }
  }

  /// The response if the rendition is stored; nil if it has to be rendered.
  func ready(_ context: RequestContext) throws -> Response? {
    let media = try admit(context)
    let stored = media.isTransient ? nil : renderer.stored(media.rendition)
    guard
      let rendered = try stored.map(RenderedMedia.stored)
        ?? renderer.renditionInline(media.rendition)
    else { return nil }
    return respond(with: rendered, of: media, to: context)
  }

  /// The response once the rendition is rendered.
  func get(_ context: RequestContext) async throws -> Response {
    let media = try admit(context)
    return respond(with: try await renderer.rendition(media.rendition), of: media, to: context)
  }

  private func respond(
    with rendered: RenderedMedia, of media: ResolvedMedia, to context: RequestContext
  ) -> Response {
    if context.request.method == "GET", let id = media.rendition.source.id {
      fetches.record(id, by: context.caller.id, on: context.device)
    }
    let content = rendered.stored.map { Content($0) }
    resolved.setContent(content, of: media, for: context.request.target)
    return content.map { .content($0) } ?? rendered.response
  }

  /// The media of the target, from the cache or the store.
  ///
  /// - Throws: `notFound` if the caller is not a recipient.
  private func admit(_ context: RequestContext) throws -> ResolvedMedia {
    let user = context.caller.id
    if let media = cachedMedia(for: context.request.target), let id = media.rendition.source.id {
      guard
        try fetches.hasRecorded(id, by: user, on: context.device)
          || store.loopReads.isRecipient(id, user: user)
      else { throw ServiceError.noSuchNotification }
      return media
    }
    let (changes, epoch) = (resolved.changes, versions.epoch(at: Date()))
    let id = try context.notificationID()
    guard let notification = try store.loopReads.notification(id), !notification.isHeld(at: Date()),
      try store.loopReads.isRecipient(id, user: user)
    else { throw ServiceError.noSuchNotification }
    let rendition = try rendition(notification, for: context.caller) {
      plugin throws(ServiceError) in
      try RenditionOptions(
        context.request.query.items, declaring: plugin.manifest.query,
        defaults: plugin.manifest.queryDefaults)
    }
    let media = ResolvedMedia(
      rendition, nil, at: Self.route, expires: notification.expires, epoch: epoch,
      counts: renderer.counts)
    resolved.insert(media, for: context.request.target, unlessChangedSince: changes)
    return media
  }

  /// The request for a rendition of a notification, with the options that its plugin understands.
  ///
  /// - Throws: `unavailable` if the plugin is not installed any more; the error of `options`.
  func rendition(
    _ notification: StoredNotification, for caller: Caller?,
    options: (Plugin) throws(ServiceError) -> RenditionOptions
  ) throws(ServiceError) -> RenditionRequest {
    guard let plugin = host.plugin(notification.richType) else {
      throw ServiceError(
        .unavailable, "The plugin for \(notification.richType.quoted) is not installed any more.",
        retryAfter: 60)
    }
    return RenditionRequest(
      source: RenditionSource(notification, in: store), options: try options(plugin),
      plugin: plugin, user: caller?.name ?? "", owner: caller?.id)
  }
}

extension Content {
  /// A stored rendition as the server sends it.
  convenience init(_ media: StoredMedia) {
    self.init(
      path: media.path, size: media.size, mediaType: media.mediaType, etag: media.etag,
      lastModified: media.created, fileName: media.fileName, fields: Fields(media.fields))
  }
}

extension RenderedMedia {
  /// The response with the media.
  var response: Response {
    switch self {
    case .stored(let media): return .content(Content(media))
    case .redirect(let location): return .empty(302, fields: ["Location": location])
    case .transient(let media):
      var fields = Fields(media.fields)
      fields["Cache-Control"] = "no-store"
      fields.restrictScripts(media.mediaType, fileName: nil)
      return .bytes(200, media.bytes, type: media.mediaType, fields: fields)
    }
  }
}
