import FoundationEssentials
import HTTP
import Media
import PluginHost
import Primitives
import Store
import Synchronization

/// What the addresses of notifications give, decided before: nothing of the store is read for them.
///
/// Media is looked over once in each look at the plugins (``PluginVersionCache``) and ends with its
/// notification, or when that is changed.
final class ResolvedMediaCache: Sendable {
  private struct State {
    var media: GenerationalCache<String, ResolvedMedia>
    var changes = 0
  }

  private let state: Mutex<State>

  /// Remembers at most `capacity` addresses.
  init(capacity: Int = 20_000) {
    state = Mutex(State(media: GenerationalCache(capacity: capacity)))
  }

  /// The number of addresses.
  var count: Int { state.withLock { $0.media.count } }

  /// The number of changed notifications so far; to be read before the store is.
  var changes: Int { state.withLock { $0.changes } }

  /// What the target gives now, if known; calls `isRight` once for each look at the plugins.
  func find(
    _ target: String, at moment: Date, in look: Int, isRight: (ResolvedMedia) -> Bool
  ) -> ResolvedMedia? {
    guard let media = state.withLock({ $0.media.value(for: target) }) else { return nil }
    guard media.stands(at: moment), !media.isUnseen(in: look) || isRight(media) else {
      media.end()
      state.withLock { $0.media.remove(target) }
      return nil
    }
    return media
  }

  /// Remembers what a target gives, unless a notification has changed since `changes` was read.
  ///
  /// Media made for one user is not remembered.
  func put(_ media: ResolvedMedia, for target: String, unlessChangedSince changes: Int) {
    guard !media.rendition.plugin.manifest.perUser else { return }
    state.withLock { state in
      guard state.changes == changes else { return }
      state.media.insert(media, for: target)
    }
  }

  /// Remembers the content made for the media, or that it cannot be kept, if the target still gives it.
  func fulfil(_ media: ResolvedMedia, with content: Content?, for target: String) {
    guard content.map({ $0.etag != media.content?.etag }) ?? !media.isMadeEachTime else { return }
    let fulfilled = ResolvedMedia(media, made: content)
    state.withLock { state in
      guard state.media.peek(target) === media else { return }
      state.media.insert(fulfilled, for: target)
    }
  }

  /// Ends the media of a notification that has changed.
  func end(_ id: Int) {
    state.withLock { state in
      state.changes += 1
      for media in state.media.removeAll(where: { $0.rendition.source.id == id }) { media.end() }
    }
  }

  /// Ends all media.
  func endAll() {
    state.withLock { state in
      state.changes += 1
      for media in state.media.removeAll(where: { _ in true }) { media.end() }
    }
  }
}

/// What one address gives to everybody who may open it.
final class ResolvedMedia: CachedResponse {
  let rendition: RenditionRequest
  /// What is stored; nil for what was not made yet, and for what its plugin is asked for each time.
  let content: Content?
  /// Whether nothing that is made of it can be kept.
  let isMadeEachTime: Bool
  let route: String
  private let expires: Date?
  private let counts: RenditionCounts
  private let isOver = Atomic(false)
  /// The look (``PluginVersionCache/look(at:)``) that it was last found right in.
  private let seen: Atomic<Int>

  init(
    _ rendition: RenditionRequest, _ content: Content?, at route: String, expires: Date?,
    seen look: Int,
    counts: RenditionCounts
  ) {
    (self.rendition, self.content, self.route) = (rendition, content, route)
    (self.expires, self.counts, isMadeEachTime) = (expires, counts, false)
    seen = Atomic(look)
  }

  /// The same once it was made; nil when it cannot be kept.
  init(_ media: ResolvedMedia, made content: Content?) {
    (rendition, self.content, route) = (media.rendition, content, media.route)
    (expires, counts, isMadeEachTime) = (media.expires, media.counts, content == nil)
    seen = Atomic(media.seen.load(ordering: .relaxed))
  }

  /// Whether it still stands, as far as can be told without a look at the disk.
  func stands(at moment: Date) -> Bool {
    !isOver.load(ordering: .sequentiallyConsistent) && expires.map { $0 > moment } ?? true
  }

  /// Whether nobody has looked it over in this look; says so only once.
  func isUnseen(in look: Int) -> Bool {
    seen.load(ordering: .relaxed) != look && seen.exchange(look, ordering: .relaxed) != look
  }

  /// It stands no more.
  func end() { isOver.store(true, ordering: .sequentiallyConsistent) }

  func recordUse() { counts.count(.hit) }
}

/// Notes who fetched what, once for each: a phone that asks again costs the store nothing.
final class FetchRecorder: Sendable {
  private struct Fetch: Hashable {
    let id: Int
    let user: UserID
    let device: String?
  }

  private let store: Store
  /// Of those that are forgotten, the store ignores repetitions.
  private let noted = Mutex(GenerationalCache<Fetch, Void>(capacity: 400_000))

  init(store: Store) { self.store = store }

  /// Whether the user, who then is a recipient, fetched the notification on this device, if it says
  /// which one it is, not long ago.
  func isNoted(_ id: Int, by user: UserID, on device: String?) -> Bool {
    noted.withLock { $0.value(for: Fetch(id: id, user: user, device: device)) != nil }
  }

  /// Notes that a device of the user fetched the notification; the first time counts.
  func note(_ id: Int, by user: UserID, on device: String?) {
    let fetch = Fetch(id: id, user: user, device: device)
    let isNew = noted.withLock { noted in
      guard noted.value(for: fetch) == nil else { return false }
      noted.insert((), for: fetch)
      return true
    }
    if isNew { store.recordFetched(id, user: user, device: device) }
  }
}

/// Which versions of the plugins there are, looked up once a second however many ask, and anew when the
/// plugins' folder has changed.
final class PluginVersionCache: Sendable {
  private struct Sight {
    var look = 0
    var identities: [String: String?] = [:]
  }

  private let host: PluginHost
  private let sight = Mutex(Sight())

  init(host: PluginHost) { self.host = host }

  /// The number of the look that counts at this moment: another in each second, and after each change.
  func look(at moment: Date) -> Int {
    Int(moment.timeIntervalSince1970) &+ host.changeCount &<< 36
  }

  /// Whether the plugin is the one that renders its rich type, as of this look.
  func isCurrent(_ plugin: Plugin, in look: Int) -> Bool {
    let known = sight.withLock { sight in
      if sight.look != look { sight = Sight(look: look) }
      return sight.identities[plugin.richType]
    }
    if let known { return known == plugin.identity }
    let identity = host.plugin(plugin.richType)?.identity
    sight.withLock { if $0.look == look { $0.identities[plugin.richType] = .some(identity) } }
    return identity == plugin.identity
  }
}
