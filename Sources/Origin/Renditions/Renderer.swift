import FoundationEssentials
import HTTP
import PluginHost
import Store
import Synchronization

/// Gives renditions: from the store, or made once by their plugin, however many ask.
final class Renderer: Sendable {
  private let store: Store
  private let host: PluginHost
  /// What became of wishes.
  let counts: RenditionCounts
  /// Tells those who work in the background that somebody waits.
  let bustle: Bustle
  /// What waits to be made.
  let lines: RenderLines
  private let making = Mutex<[Digest: Making]>([:])
  /// The field that stands for a rendition that is the asset itself.
  private static let sendfile = "X-Sendfile"

  init(
    store: Store, host: PluginHost, lines: RenderLines, bustle: Bustle, counts: RenditionCounts
  ) {
    (self.store, self.host, self.lines) = (store, host, lines)
    (self.bustle, self.counts) = (bustle, counts)
  }

  /// The rendition when it is stored: a system call, no waiting.
  func stored(_ wish: Wish) -> Content? {
    guard let content = look(for: wish) else { return nil }
    counts.count(.hit)
    return content
  }

  /// The same when nobody asked for it.
  func look(for wish: Wish) -> Content? {
    store.renditions.rendition(wish.key).flatMap { content($0, of: wish) }
  }

  /// The rendition, made now when it is not stored.
  ///
  /// - Throws: `Refusal` with the plugin's sentence, or with what became of the plugin.
  func rendered(_ wish: Wish) async throws(Refusal) -> Rendered {
    if let content = stored(wish) { return .content(content) }
    return try await bustle.during { () async throws(Refusal) in try await share(wish) }
  }

  /// The same for nobody in particular: it begins when nobody waits for anything else.
  func renderedInBackground(_ wish: Wish) async throws(Refusal) -> Rendered {
    if let content = stored(wish) { return .content(content) }
    await bustle.calm()
    return try await share(wish)
  }

  /// The rendition made on this very thread, by a plugin that is known to answer in less time than
  /// it takes to change threads.
  ///
  /// - Returns: nil when it is not there yet: ``rendered(_:)`` waits for it.
  func renderedAtOnce(_ wish: Wish) throws(Refusal) -> Rendered? {
    guard host.answersAtOnce(wish.plugin) else { return nil }
    let (making, isNew) = join(wish.key)
    guard isNew else { return nil }
    Task.immediate {
      making.end(await ask(wish, atOnce: true))
      // who was told to wait comes for it in a moment, unless it has hung up
      if making.isLeft { try? await Task.sleep(for: .seconds(1)) }
      forget(making, wish.key)
    }
    return try making.leave()?.get()
  }

  private func share(_ wish: Wish) async throws(Refusal) -> Rendered {
    let (making, isNew) = join(wish.key)
    if isNew {
      Task {
        making.end(await lines[wish.plugin].make(making) { await make(wish) })
      }
    } else {
      counts.count(.coalesced)
    }
    let outcome = await making.wait()
    forget(making, wish.key)
    return try outcome.get()
  }

  /// What is over is nobody else's.
  private func forget(_ over: Making, _ key: Digest) {
    making.withLock { if $0[key] === over { $0[key] = nil } }
  }

  /// What is made under a key already, or begins now.
  private func join(_ key: Digest) -> (making: Making, isNew: Bool) {
    making.withLock { making in
      if let running = making[key] { return (running, false) }
      let new = Making()
      making[key] = new
      return (new, true)
    }
  }

  private func make(_ wish: Wish) async -> Making.Outcome {
    // Another may have been making it when we looked, and be done by now.
    if let content = look(for: wish) { return .success(.content(content)) }
    return await ask(wish)
  }

  private func ask(_ wish: Wish, atOnce: Bool = false) async -> Making.Outcome {
    do {
      let reply = try await host.respond(to: wish.call, atOnce: atOnce)
      counts.count(.made)
      if let location = reply.location {
        return .success(.transient(Response.empty(302, fields: ["Location": location])))
      }
      return .success(try await keep(reply, of: wish))
    } catch {
      return .failure(Refusal(any: error))
    }
  }

  private func keep(_ reply: PluginReply, of wish: Wish) async throws -> Rendered {
    guard reply.isStorable else { return .transient(try transient(reply, of: wish)) }
    var fields = reply.fields.map { Rendition.Field($0.name, $0.value) }
    let rendition: Rendition
    switch reply.body {
    case .asset:
      fields.append(Rendition.Field(Self.sendfile, "asset"))
      rendition = try await store.renditions.store(
        wish.key, bytes: [], contentType: reply.contentType, fields: fields)
    case .bytes(let bytes):
      rendition = try await store.renditions.store(
        wish.key, bytes: bytes, contentType: reply.contentType, fields: fields)
    case .file(let file):
      rendition = try await store.renditions.store(
        wish.key, taking: file.path, contentType: reply.contentType, fields: fields)
    }
    guard let content = content(rendition, of: wish) else {
      throw Refusal(502, "The plugin sends the asset of a notification that has none.")
    }
    return .content(content)
  }

  /// The stored rendition as HTTP serves it; nil when it is an asset that is not there.
  private func content(_ rendition: Rendition, of wish: Wish) -> Content? {
    let isAsset = rendition.fields.contains { $0.name == Self.sendfile }
    if isAsset, wish.subject.pinned == nil { return nil }
    let pinned = isAsset ? wish.subject.pinned : nil
    var fields = Fields()
    // Link is no plugin's to send; renditions stored by earlier versions may have it.
    for field in rendition.fields where ![Self.sendfile, "link"].contains(field.name) {
      fields.append(field.name, field.value)
    }
    return Content(
      path: pinned?.path ?? rendition.path, size: pinned?.size ?? rendition.size,
      mediaType: rendition.contentType, etag: pinned?.digest.hex ?? rendition.digest.hex,
      lastModified: rendition.created, fileName: wish.fileName(rendition.contentType),
      fields: fields)
  }

  /// An answer that must not be kept: it goes to those who asked for it together, and is gone.
  private func transient(_ reply: PluginReply, of wish: Wish) throws -> Response {
    var fields = Fields()
    for (name, value) in reply.fields { fields.append(name, value) }
    fields["Cache-Control"] = "no-store"
    fields.confine(reply.contentType, fileName: wish.fileName(reply.contentType))
    return .bytes(
      200, try reply.bytes(asset: wish.subject.pinned?.path), type: reply.contentType,
      fields: fields)
  }
}

/// What becomes of a wish.
enum Rendered: Sendable {
  /// A file that stays, for everybody who asks for the same.
  case content(Content)
  /// An answer for now only.
  case transient(Response)

  /// What is stored; nil for what has to be made each time.
  var content: Content? {
    guard case .content(let content) = self else { return nil }
    return content
  }

  /// The answer that says so.
  var response: Response {
    switch self {
    case .content(let content): .content(content)
    case .transient(let response): response
    }
  }
}
