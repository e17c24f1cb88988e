import Delivery
import FoundationEssentials
import HTTP
import Media
import PluginHost
import Primitives
import RichPushAPI
import Store

/// `GET /api/notifications/<id>`: a rendition of the notification's content.
struct MediaRoutes: Sendable {
  let store: Store
  let host: PluginHost
  let renderer: Renderer
  let resolved: ResolvedMediaCache

  /// What a request with these path parameters fetches, as of now.
  func fetch(_ parameters: [String]) -> Fetch? {
    RequestContext.notificationID(parameters).map {
      Fetch(notification: $0, moment: resolved.changes.moment)
    }
  }

  /// The response once the rendition is rendered.
  func get(_ context: RequestContext) async throws -> Response {
    let (request, user) = (context.request, context.caller.id)
    let moment = context.fetch?.fetch.moment ?? resolved.changes.moment
    let second = Date().second
    let known = resolved.find(request.target, at: second)
    let id = try known?.notification ?? context.notificationID()
    let isRecorded =
      if let fetch = context.fetch { fetch.isRecorded } else {
        try await store.notifications.isFetchRecorded(id, user: user, device: context.device)
      }
    guard let isRecorded else { throw ServiceError.noSuchNotification }
    known?.renew(moment)
    let response =
      if let known { try await response(known, for: context, at: second) } else {
        try await firstResponse(id, context, at: second)
      }
    if request.method == "GET", !isRecorded {
      store.notifications.recordFetched(id, user: user, device: context.device)
    }
    return response
  }

  private func response(
    _ media: ResolvedMedia, for context: RequestContext, at second: Int
  ) async throws(ServiceError) -> Response {
    if let content = media.storedContent(at: second) {
      return stored(content, of: media, for: context, at: second)
    }
    return try await rendered(media, for: context, at: second)
  }

  /// `GET /api/notifications/<id>/media`: what its devices get, for its sender and admins; this counts as no fetch.
  func getSent(_ context: RequestContext) async throws -> Response {
    let caller = context.caller
    guard let notification = try await store.notifications.notification(context.notificationID()),
      caller.mayRead(notification)
    else { throw ServiceError.noSuchNotification }
    guard notification.media != nil else { return try text(of: notification, context, [:]) }
    let request = try rendition(notification, for: caller) { plugin throws(ServiceError) in
      try RenditionOptions(
        context.request.query.items, declaring: plugin.manifest.query,
        defaults: plugin.manifest.queryDefaults)
    }
    let rendered = try await renderer.rendition(request, for: caller.id)
    guard let stored = rendered.stored else { return rendered.response }
    // The sender may change it.
    return .content(Content(stored, cacheControl: "private, no-cache"))
  }

  private func stored(
    _ content: Content, of media: ResolvedMedia, for context: RequestContext, at second: Int
  ) -> Response {
    media.recordUse()
    var response = Response.content(content)
    response.cached = context.login.map { CachedMedia(media, for: $0, at: second) }
    return response
  }

  // Inlined, it would make the frame of each request so large that allocating it costs a microsecond.
  @inline(never)
  private func rendered(
    _ media: ResolvedMedia, for context: RequestContext, at second: Int
  ) async throws(ServiceError) -> Response {
    let rendered = try await render(media, for: context.caller.id)
    guard !media.rendition.plugin.manifest.perUser else { return rendered.response }
    let current = resolved.setContent(
      rendered.stored.map { Content($0) }, of: media, for: context.request.target)
    var response = current.content.map { .content($0) } ?? rendered.response
    response.cached = context.login.map { CachedMedia(current, for: $0, at: second) }
    return response
  }

  /// The stored rendition, or one that is rendered now, in the turn of the user, if there is one.
  func render(
    _ media: ResolvedMedia, for user: UserID?
  ) async throws(ServiceError) -> RenderedMedia {
    if !media.isTransient, let stored = renderer.stored(media.rendition) { return .stored(stored) }
    if let rendered = try renderer.renditionInline(media.rendition) { return rendered }
    return try await renderer.rendition(media.rendition, for: user, isFetch: true)
  }

  /// The response to a recipient whose target is not known yet.
  private func firstResponse(
    _ id: Int, _ context: RequestContext, at second: Int
  ) async throws -> Response {
    let moment = resolved.changes.moment
    guard let notification = try await store.notifications.notification(id),
      !notification.isHeld(at: Date())
    else { throw ServiceError.noSuchNotification }
    guard notification.media != nil else {
      let values = try await store.values(of: [notification], for: context.caller.id)[id] ?? [:]
      return try text(of: notification, context, values)
    }
    let rendition = try rendition(notification, for: context.caller) {
      plugin throws(ServiceError) in
      try RenditionOptions(
        context.request.query.items, declaring: plugin.manifest.query,
        defaults: plugin.manifest.queryDefaults)
    }
    let media = media(of: notification, rendition, nil, readAfter: moment, resolved)
    // Media that is rendered for one user is nobody else's.
    if !rendition.plugin.manifest.perUser { resolved.insert(media, for: context.request.target) }
    return try await response(media, for: context, at: second)
  }

  /// What a notification without media says to the caller, who has these values.
  private func text(
    of notification: StoredNotification, _ context: RequestContext, _ values: [String: String]
  ) throws(ServiceError) -> Response {
    // An option that means nothing is an error here as everywhere.
    _ = try RenditionOptions(context.request.query.items, declaring: [], defaults: [:])
    let said = notification.said(in: context.languages, values: values)
    var fields: Fields = [
      "Cache-Control": "private, no-cache",
      "Content-Security-Policy": "default-src 'none'; sandbox",
      "Vary": "Accept-Language",
    ]
    if let language = said.language { fields["Content-Language"] = language }
    return .bytes(
      200, Array((said.text.isEmpty ? said.title ?? "" : said.text).utf8),
      type: "text/plain; charset=utf-8", fields: fields)
  }

  /// What a target of the notification resolves to.
  func media(
    of notification: StoredNotification, _ rendition: RenditionRequest, _ content: Content?,
    expires: Date? = nil, readAfter moment: ChangeClock.Moment, _ cache: ResolvedMediaCache
  ) -> ResolvedMedia {
    ResolvedMedia(
      of: notification.id, rendition, content, countedBy: cache.counter,
      expires: expires ?? notification.expires, readAfter: moment, changes: cache.changes,
      host: host, counts: renderer.counts)
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
  convenience init(
    _ media: StoredMedia, cacheControl: String = "private, max-age=31536000, immutable"
  ) {
    self.init(
      path: media.path, size: media.size, mediaType: media.mediaType, etag: media.etag,
      lastModified: media.created, cacheControl: cacheControl, fileName: media.fileName,
      fields: Fields(media.fields))
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
