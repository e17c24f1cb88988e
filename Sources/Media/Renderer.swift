import FoundationEssentials
package import PluginHost
import Primitives
package import RichPushAPI
package import Store

/// Provides renditions: from the store, or rendered once for all concurrent requests.
package final class Renderer: Sendable {
  private let store: Store
  private let host: PluginHost
  /// Rendition requests by outcome.
  package let counts: RenditionCounts
  /// Counts waiting callers, so that background work can yield to them.
  package let foreground: ForegroundLoad
  private let queues: RenderQueues
  private let renders = SharedWork<Digest, RenderOutcome>()
  /// The field that marks a stored rendition as the asset itself.
  private static let sendfile = "X-Sendfile"
  /// The most bytes of a file that is sent from memory, since there is no space for it.
  private static let largestInMemory = 8 << 20

  /// Creates a renderer.
  package init(
    store: Store, host: PluginHost, queues: RenderQueues, foreground: ForegroundLoad,
    counts: RenditionCounts
  ) {
    (self.store, self.host, self.queues) = (store, host, queues)
    (self.foreground, self.counts) = (foreground, counts)
  }

  /// The rendition if it is in the data folder; takes one system call, or two for an asset as it is.
  package func stored(_ request: RenditionRequest) -> StoredMedia? {
    guard let media = lookUp(request) else { return nil }
    counts.count(.hit)
    return media
  }

  private func lookUp(_ request: RenditionRequest) -> StoredMedia? {
    store.renditions.rendition(request.key).flatMap { media($0, for: request) }
  }

  /// The rendition from the object store; nil if there is none, or if it does not have the rendition: then the
  /// asset's file is in the data folder.
  ///
  /// - Throws: why the object store has neither.
  private func fetch(_ request: RenditionRequest) async throws -> StoredMedia? {
    guard store.objects != nil else { return nil }
    do {
      if !request.plugin.manifest.perUser,
        let rendition = try await store.renditions.fetch(request.key, of: request.source.digest)
      {
        try await requireNotErased(request)
        if isAsset(rendition) { try await fetchAsset(of: request) }
        if let media = media(rendition, for: request) { return media }
      }
    } catch {
      // From an asset that is here a rendition can be made.
      guard hasLocalAsset(request) else { throw error }
    }
    try await fetchAsset(of: request)
    return nil
  }

  /// Returns once the asset's file is in the data folder.
  private func fetchAsset(of request: RenditionRequest) async throws {
    guard let pinned = request.source.pinned else { return }
    try await store.blobs.fetch(pinned.digest, size: pinned.size)
  }

  private func hasLocalAsset(_ request: RenditionRequest) -> Bool {
    guard let pinned = request.source.pinned else { return true }
    return store.blobs.isLocal(pinned.digest, size: pinned.size)
  }

  private func isAsset(_ rendition: Rendition) -> Bool {
    rendition.fields.contains { $0.name == Self.sendfile }
  }

  /// The rendition, rendered if it is not stored, in the user's turn; a device that fetches waits however many of
  /// the user do.
  ///
  /// - Throws: the plugin's reason, or why the call failed.
  package func rendition(
    _ request: RenditionRequest, for user: UserID?, isFetch: Bool = false
  ) async throws(ServiceError) -> RenderedMedia {
    if let media = stored(request) { return .stored(media) }
    return try await foreground.track { () async throws(ServiceError) in
      // Waiting for a render that is under way needs no other call of the plugin.
      if renders.isUnderWay(request.key) { return try await share(request) }
      return try await queues.inTurn(of: user, request.plugin, isFetch: isFetch) {
        () async throws(ServiceError) in
        try await share(request)
      }
    }
  }

  /// Runs `work`, which calls the plugin, when the user has few calls of it under way.
  ///
  /// - Throws: `tooManyRequests` if too many of the user's calls wait, or what `work` throws.
  package func inTurn<R>(
    of user: UserID?, _ plugin: Plugin, _ work: () async throws(ServiceError) -> R
  ) async throws(ServiceError) -> R {
    try await queues.inTurn(of: user, plugin, work)
  }

  /// The rendition, rendered when no device is waiting.
  ///
  /// - Throws: the plugin's reason, or why the call failed.
  package func renditionInBackground(
    _ request: RenditionRequest
  ) async throws(ServiceError) -> RenderedMedia {
    if let media = stored(request) { return .stored(media) }
    await foreground.waitUntilIdle()
    return try await share(request)
  }

  /// The rendition, rendered on the calling thread, if its plugin usually responds faster than a task
  /// switch.
  ///
  /// - Returns: nil if it is not complete yet; ``rendition(_:for:)`` then waits for it.
  /// - Throws: the plugin's reason, or why the call failed.
  package func renditionInline(_ request: RenditionRequest) throws(ServiceError) -> RenderedMedia? {
    // One that other nodes may have rendered is looked for first.
    guard host.answersInline(request.plugin), hasLocalAsset(request), turns(of: request) == nil
    else {
      return nil
    }
    return try renders.begin(request.key) { [self] in
      await callPlugin(request, inline: true)
    }?.get()
  }

  private func share(_ request: RenditionRequest) async throws(ServiceError) -> RenderedMedia {
    try await renders.value(request.key, joining: { counts.count(.coalesced) }) { [self] in
      await fetchOrRenderInTurn(request)
    }.get()
  }

  private func fetchOrRenderInTurn(_ request: RenditionRequest) async -> RenderOutcome {
    guard let turns = turns(of: request) else { return await fetchOrRender(request) }
    await turns.begin(request.key)
    let outcome = await fetchOrRender(request)
    // Until then no other node finds it.
    store.renditions.whenUploaded(request.key) { turns.end(request.key) }
    return outcome
  }

  /// Who renders, if other nodes can use the rendition.
  private func turns(of request: RenditionRequest) -> RenderTurns? {
    request.plugin.manifest.perUser ? nil : store.renderTurns
  }

  private func fetchOrRender(_ request: RenditionRequest) async -> RenderOutcome {
    // Before the queue, where no call of the plugin waits for the object store.
    do {
      if let media = try await fetch(request) { return .success(.stored(media)) }
    } catch { return .failure(ServiceError(any: error)) }
    let (renders, key) = (self.renders, request.key)
    return await queues.run(of: request.plugin, waiters: { renders.waiters(key) }) {
      // Another render may have completed since it was looked for.
      if let media = lookUp(request) { return .success(.stored(media)) }
      return await callPlugin(request, inline: false)
    }
  }

  private func callPlugin(_ request: RenditionRequest, inline: Bool) async -> RenderOutcome {
    do {
      try await fetchAsset(of: request)
      let reply = try await host.respond(to: request.call, inline: inline)
      counts.count(.made)
      if let location = reply.location { return .success(.redirect(location: location)) }
      guard reply.isStorable else {
        return .success(
          .transient(
            TransientMedia(
              bytes: try reply.bytes(asset: request.source.pinned?.path),
              mediaType: reply.contentType, fields: reply.fields)))
      }
      do { return .success(.stored(try await store(reply, of: request))) } catch {
        guard let error = error as? StoreError, error.code == .full else { throw error }
        return .success(try unstored(reply, of: request, error))
      }
    } catch {
      return .failure(ServiceError(any: error))
    }
  }

  private func store(_ reply: PluginReply, of request: RenditionRequest) async throws -> StoredMedia
  {
    var fields = reply.fields.map { Rendition.Field($0.name, $0.value) }
    fields += request.sources.map { Rendition.Field(Rendition.sourceField, $0.hex) }
    let (key, type) = (request.key, reply.contentType)
    let rendition: Rendition
    switch reply.body {
    case .asset:
      fields.append(Rendition.Field(Self.sendfile, "asset"))
      rendition = try await store.renditions.store(
        key, bytes: [], contentType: type, fields: fields)
    case .bytes(let bytes):
      rendition = try await store.renditions.store(
        key, bytes: bytes, contentType: type, fields: fields)
    case .file(let file):
      rendition = try await store.renditions.store(
        key, moving: file.path, contentType: type, fields: fields)
    }
    try await requireNotErased(request)
    guard let media = media(rendition, for: request) else {
      throw ServiceError(
        .pluginFailed, "The plugin responded with the asset of a notification that has none.")
    }
    return media
  }

  /// Throws `notFound` if the content and its notification, or the user whom it is for, were erased while the rendition
  /// was made or fetched; removes the rendition.
  private func requireNotErased(_ request: RenditionRequest) async throws(ServiceError) {
    guard let id = request.source.id else { return }
    for (number, source) in request.sources.enumerated() {
      // The content may have been sent again; a user's number is nobody else's. This node may have looked before for
      // what is to be removed, but not while the database is away.
      let isErased = try? await store.erasures.isErased(source, unless: number == 0 ? id : nil)
      guard isErased == true else { continue }
      // The collection finds what is left there while the object store is away.
      try? await store.renditions.erase(request.key, of: request.source.digest)
      throw ServiceError(.notFound, "There is no notification \(id).")
    }
  }

  /// A reply for which there is no space: it is sent nevertheless, and made again for the next who asks.
  ///
  /// Throws `full` for one that is too large to be sent from memory.
  private func unstored(
    _ reply: PluginReply, of request: RenditionRequest, _ error: StoreError
  ) throws -> RenderedMedia {
    if case .asset = reply.body, let asset = request.source.pinned {
      return .stored(
        StoredMedia(
          path: asset.path, size: asset.size, mediaType: reply.contentType, etag: asset.digest.hex,
          created: Date(), fileName: request.fileName(reply.contentType), fields: reply.fields))
    }
    if case .file(let file) = reply.body, file.size > Self.largestInMemory { throw error }
    return .transient(
      TransientMedia(
        bytes: try reply.bytes(asset: nil), mediaType: reply.contentType, fields: reply.fields))
  }

  /// A stored rendition as it is sent; nil if it is the asset, and the request has none or its file is
  /// missing.
  private func media(_ rendition: Rendition, for request: RenditionRequest) -> StoredMedia? {
    let asset = isAsset(rendition) ? request.source.pinned : nil
    if isAsset(rendition), asset == nil || !hasLocalAsset(request) { return nil }
    // What is stored may be of an earlier version, which passed on more.
    let fields = rendition.fields.filter { PluginReply.isPassedOn($0.name) }
    return StoredMedia(
      path: asset?.path ?? rendition.path, size: asset?.size ?? rendition.size,
      mediaType: rendition.contentType, etag: asset?.digest.hex ?? rendition.digest.hex,
      created: rendition.created, fileName: request.fileName(rendition.contentType),
      fields: fields.map { ($0.name, $0.value) })
  }
}
