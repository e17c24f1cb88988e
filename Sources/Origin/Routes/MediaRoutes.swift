import FoundationEssentials
import HTTP
import Media
import PluginHost
import RichPushAPI
import Store

/// `GET /api/notifications/<id>`: the rendition that the phone shows.
struct MediaRoutes: Sendable {
  let store: Store
  let host: PluginHost
  let renderer: Renderer
  let fetches: FetchRecorder
  let versions: PluginVersionCache
  let resolved = ResolvedMediaCache()

  /// The route's name in metrics.
  private static let route = "/api/notifications/{}"

  /// The cached media of a target for a recipient; does not query the store for one who fetched it before.
  func standing(at target: String, for user: UserID) -> ResolvedMedia? {
    guard let media = media(at: target), media.content != nil, let id = media.rendition.source.id
    else { return nil }
    if !fetches.isNoted(id, by: user, on: nil) {
      guard (try? store.isRecipient(id, user: user)) == true else { return nil }
      fetches.note(id, by: user, on: nil)
    }
    return media
  }

  private func media(at target: String) -> ResolvedMedia? {
    let moment = Date()
    let look = versions.look(at: moment)
    return resolved.find(target, at: moment, in: look) {
      versions.isCurrent($0.rendition.plugin, in: look)
    }
  }

  /// The response if the rendition is stored; nil if it has to be made.
  func ready(_ context: RequestContext) throws -> Response? {
    let media = try admit(context)
    let stored = media.isMadeEachTime ? nil : renderer.stored(media.rendition)
    guard
      let rendered = try stored.map(RenderedMedia.stored)
        ?? renderer.renditionInline(media.rendition)
    else { return nil }
    return give(rendered, of: media, to: context)
  }

  /// The response once the rendition is made.
  func get(_ context: RequestContext) async throws -> Response {
    let media = try admit(context)
    return give(try await renderer.rendition(media.rendition), of: media, to: context)
  }

  private func give(_ rendered: RenderedMedia, of media: ResolvedMedia, to context: RequestContext)
    -> Response
  {
    if let id = media.rendition.source.id { fetched(id, context) }
    let content = rendered.stored.map { Content($0) }
    resolved.fulfil(media, with: content, for: context.request.target)
    return content.map { .content($0) } ?? rendered.response
  }

  /// The media that an earlier request for the target found, or that is found now.
  ///
  /// - Throws: `notFound` if the caller is no recipient.
  private func admit(_ context: RequestContext) throws -> ResolvedMedia {
    if let media = media(at: context.request.target), let id = media.rendition.source.id {
      if !fetches.isNoted(id, by: context.caller.id, on: context.device) {
        guard try store.isRecipient(id, user: context.caller.id) else {
          throw ServiceError.noSuchNotification
        }
      }
      return media
    }
    let (changes, look) = (resolved.changes, versions.look(at: Date()))
    let (notification, rendition) = try rendition(context)
    let media = ResolvedMedia(
      rendition, nil, at: Self.route, expires: notification.expires, seen: look,
      counts: renderer.counts)
    resolved.put(media, for: context.request.target, unlessChangedSince: changes)
    return media
  }

  private func fetched(_ id: Int, _ context: RequestContext) {
    guard context.request.method == "GET" else { return }
    fetches.note(id, by: context.caller.id, on: context.device)
  }

  private func rendition(_ context: RequestContext) throws -> (StoredNotification, RenditionRequest)
  {
    let id = try context.notificationID()
    guard let notification = try store.notification(id), !notification.isHeld(at: Date()),
      try store.isRecipient(id, user: context.caller.id)
    else { throw ServiceError.noSuchNotification }
    let rendition = try rendition(notification, for: context.caller) {
      plugin throws(ServiceError) in
      try RenditionOptions(
        context.request.query.items, declaring: plugin.manifest.query,
        defaults: plugin.manifest.queryDefaults)
    }
    return (notification, rendition)
  }

  /// A notification's content, for a user if one asks, with the options that its plugin understands.
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
      plugin: plugin,
      user: caller?.name ?? "", owner: caller?.id)
  }
}

extension Content {
  /// A rendition as HTTP serves it.
  convenience init(_ media: StoredMedia) {
    var fields = Fields()
    for (name, value) in media.fields { fields.append(name, value) }
    self.init(
      path: media.path, size: media.size, mediaType: media.mediaType, etag: media.etag,
      lastModified: media.created, fileName: media.fileName, fields: fields)
  }
}

extension RenderedMedia {
  /// The response with the media.
  var response: Response {
    switch self {
    case .stored(let media): return .content(Content(media))
    case .redirect(let location): return .empty(302, fields: ["Location": location])
    case .transient(let media):
      var fields = Fields()
      for (name, value) in media.fields { fields.append(name, value) }
      fields["Cache-Control"] = "no-store"
      fields.restrictScripts(media.mediaType, fileName: nil)
      return .bytes(200, media.bytes, type: media.mediaType, fields: fields)
    }
  }
}
