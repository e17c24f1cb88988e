import FoundationEssentials
import HTTP
import Media
import PluginHost
import Primitives
import Store
import Synchronization

/// Caches what the URLs of notifications resolve to, so that a repeated request reads nothing from the
/// store.
///
/// An entry is checked once per epoch of the plugins (``PluginVersionCache``), and removed when its
/// notification expires or is changed.
final class ResolvedMediaCache: Sendable {
  private struct State {
    var media: GenerationalCache<String, ResolvedMedia>
    var changes = 0
  }

  private let state: Mutex<State>

  /// Holds at most `capacity` targets.
  init(capacity: Int = 20_000) {
    state = Mutex(State(media: GenerationalCache(capacity: capacity)))
  }

  /// The number of targets.
  var count: Int { state.withLock { $0.media.count } }

  /// The number of changed notifications so far; to be read before the store is.
  var changes: Int { state.withLock { $0.changes } }

  /// The media of a target, if it is cached and valid; `isCurrent` is called once per epoch.
  func find(
    _ target: String, at now: Date, in epoch: Int, isCurrent: (ResolvedMedia) -> Bool
  ) -> ResolvedMedia? {
    guard let media = state.withLock({ $0.media.value(for: target) }) else { return nil }
    guard media.isValid(at: now), !media.needsCheck(in: epoch) || isCurrent(media) else {
      media.invalidate()
      state.withLock { $0.media.remove(target) }
      return nil
    }
    return media
  }

  /// Caches the media of a target, unless a notification was changed since `changes` was read.
  ///
  /// Media that is rendered for each user is not cached.
  func insert(_ media: ResolvedMedia, for target: String, unlessChangedSince changes: Int) {
    guard !media.rendition.plugin.manifest.perUser else { return }
    state.withLock { state in
      guard state.changes == changes else { return }
      state.media.insert(media, for: target)
    }
  }

  /// Adds the rendered content to cached media, or nil if it must be rendered for each request.
  func setContent(_ content: Content?, of media: ResolvedMedia, for target: String) {
    guard content.map({ $0.etag != media.content?.etag }) ?? !media.isTransient else { return }
    let rendered = ResolvedMedia(media, content: content)
    state.withLock { state in
      guard state.media.peek(target) === media else { return }
      state.media.insert(rendered, for: target)
    }
  }

  /// Removes the media of a notification that was changed.
  func remove(notification id: Int) {
    state.withLock { state in
      state.changes += 1
      for media in state.media.removeAll(where: { $0.rendition.source.id == id }) {
        media.invalidate()
      }
    }
  }

  /// Removes all media.
  func removeAll() {
    state.withLock { state in
      state.changes += 1
      for media in state.media.removeAll(where: { _ in true }) { media.invalidate() }
    }
  }
}

/// What a URL resolves to, for everyone who may fetch it.
final class ResolvedMedia: CachedResponse {
  let rendition: RenditionRequest
  /// The stored rendition; nil if it is not rendered yet, or transient.
  let content: Content?
  /// Whether it must be rendered for each request.
  let isTransient: Bool
  let route: String
  private let expires: Date?
  private let counts: RenditionCounts
  private let isInvalidated = Atomic(false)
  /// The epoch in which it was last checked.
  private let checkedEpoch: Atomic<Int>

  init(
    _ rendition: RenditionRequest, _ content: Content?, at route: String, expires: Date?,
    epoch: Int, counts: RenditionCounts
  ) {
    (self.rendition, self.content, self.route) = (rendition, content, route)
    (self.expires, self.counts, isTransient) = (expires, counts, false)
    checkedEpoch = Atomic(epoch)
  }

  /// The same media after it was rendered; `content` is nil if it is transient.
  init(_ media: ResolvedMedia, content: Content?) {
    (rendition, self.content, route) = (media.rendition, content, media.route)
    (expires, counts, isTransient) = (media.expires, media.counts, content == nil)
    checkedEpoch = Atomic(media.checkedEpoch.load(ordering: .relaxed))
  }

  /// Whether it has neither expired nor been invalidated.
  func isValid(at now: Date) -> Bool {
    !isInvalidated.load(ordering: .sequentiallyConsistent) && expires.map { $0 > now } ?? true
  }

  /// Whether it has not been checked in this epoch; true for one caller only.
  func needsCheck(in epoch: Int) -> Bool {
    checkedEpoch.load(ordering: .relaxed) != epoch
      && checkedEpoch.exchange(epoch, ordering: .relaxed) != epoch
  }

  func invalidate() { isInvalidated.store(true, ordering: .sequentiallyConsistent) }

  func recordUse() { counts.count(.hit) }
}

/// Records who has fetched which notification; a repeated fetch does not reach the store.
final class FetchRecorder: Sendable {
  private struct Fetch: Hashable {
    let id: Int
    let user: UserID
    let device: String?
  }

  private let store: Store
  // The store ignores the repetition of a fetch that was dropped from this cache.
  private let recorded = Mutex(GenerationalCache<Fetch, Void>(capacity: 400_000))

  init(store: Store) { self.store = store }

  /// Whether the user, who is then a recipient, has fetched the notification recently, on this device if
  /// one is given.
  func hasRecorded(_ id: Int, by user: UserID, on device: String?) -> Bool {
    recorded.withLock { $0.value(for: Fetch(id: id, user: user, device: device)) != nil }
  }

  /// Records that the user has fetched the notification, on this device if one is given.
  func record(_ id: Int, by user: UserID, on device: String?) {
    let fetch = Fetch(id: id, user: user, device: device)
    let isNew = recorded.withLock { recorded in
      guard recorded.value(for: fetch) == nil else { return false }
      recorded.insert((), for: fetch)
      return true
    }
    if isNew { store.notifications.recordFetched(id, user: user, device: device) }
  }
}

/// Caches the versions of the plugins for one epoch: a second in which the plugins' folder does not change.
final class PluginVersionCache: Sendable {
  private struct Versions {
    var epoch = 0
    var identities: [String: String?] = [:]
  }

  private let host: PluginHost
  private let versions = Mutex(Versions())

  init(host: PluginHost) { self.host = host }

  /// The epoch at this time.
  func epoch(at now: Date) -> Int {
    Int(now.timeIntervalSince1970) &+ host.changeCount &<< 36
  }

  /// Whether the plugin is the version that renders its rich type in this epoch.
  func isCurrent(_ plugin: Plugin, in epoch: Int) -> Bool {
    let known = versions.withLock { versions in
      if versions.epoch != epoch { versions = Versions(epoch: epoch) }
      return versions.identities[plugin.richType]
    }
    if let known { return known == plugin.identity }
    let identity = host.plugin(plugin.richType)?.identity
    versions.withLock {
      if $0.epoch == epoch { $0.identities[plugin.richType] = .some(identity) }
    }
    return identity == plugin.identity
  }
}
