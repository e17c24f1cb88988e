import FoundationEssentials
import HTTP
import Media
import PluginHost
import Primitives
import Store
import Synchronization

/// Caches what the URLs of notifications resolve to, so that the first request of another caller reads
/// nothing but whether that is a recipient.
final class ResolvedMediaCache: Sendable {
  /// When notifications were changed.
  let changes = ChangeClock()
  /// Counts the responses that are sent again.
  let counter: RouteCounter
  private let media: Mutex<GenerationalCache<String, ResolvedMedia>>

  /// Holds at most `capacity` targets of a route.
  init(capacity: Int = 20_000, countedBy counter: RouteCounter) {
    media = Mutex(GenerationalCache(capacity: capacity))
    self.counter = counter
  }

  /// The number of targets.
  var count: Int { media.withLock { $0.count } }

  /// The media of a target, if it is cached and valid at this time in seconds since 1970.
  func find(_ target: String, at second: Int) -> ResolvedMedia? {
    guard let found = media.withLock({ $0.value(for: target) }) else { return nil }
    if found.isValid(at: second) { return found }
    media.withLock { if $0.peek(target) === found { $0.remove(target) } }
    return nil
  }

  /// Caches the media of a target.
  func insert(_ new: ResolvedMedia, for target: String) {
    media.withLock { $0.insert(new, for: target) }
  }

  /// The media with its rendered content, or without if it must be rendered for each request.
  func setContent(
    _ content: Content?, of known: ResolvedMedia, for target: String
  ) -> ResolvedMedia {
    if content.map({ $0.etag == known.content?.etag }) ?? known.isTransient { return known }
    let rendered = ResolvedMedia(known, content: content)
    media.withLock { if $0.peek(target) === known { $0.insert(rendered, for: target) } }
    return rendered
  }
}

/// What a URL resolves to, for everyone who may fetch it.
///
/// Valid until its notification expires or is changed, or its plugin is replaced.
final class ResolvedMedia: Sendable {
  // First what each request reads, on as few lines of the processor's cache as possible.
  let notification: Int
  private let counter: RouteCounter
  /// When it expires, in seconds since 1970.
  private let end: Int
  /// Since when it is known to be unchanged.
  private let moment: Atomic<ChangeClock.Moment>
  private let changes: ChangeClock
  private let host: PluginHost
  private let counts: RenditionCounts
  /// The number of changes of plugins after which its plugin was last found to be current.
  private let checkedChanges = Atomic(-1)
  let rendition: RenditionRequest
  /// The stored rendition; nil if it is not rendered yet, or transient.
  let content: Content?
  /// Whether it must be rendered for each request.
  let isTransient: Bool
  /// The second in which its file was last seen.
  private let seen = Atomic(-1)

  /// The media of a notification that was read after `moment`.
  init(
    of notification: Int, _ rendition: RenditionRequest, _ content: Content?,
    countedBy counter: RouteCounter, expires: Date?, readAfter moment: ChangeClock.Moment,
    changes: ChangeClock, host: PluginHost, counts: RenditionCounts
  ) {
    (self.notification, self.rendition, self.content) = (notification, rendition, content)
    (self.counter, isTransient) = (counter, false)
    end = expires.map { Int($0.timeIntervalSince1970) } ?? .max
    self.moment = Atomic(moment)
    self.changes = changes
    (self.host, self.counts) = (host, counts)
  }

  /// The same media after it was rendered; `content` is nil if it is transient.
  init(_ media: ResolvedMedia, content: Content?) {
    (notification, rendition, self.content) = (media.notification, media.rendition, content)
    (counter, isTransient, end) = (media.counter, content == nil, media.end)
    moment = Atomic(media.moment.load(ordering: .relaxed))
    changes = media.changes
    (host, counts) = (media.host, media.counts)
  }

  /// Whether it may be sent at this time in seconds since 1970; while a change of its plugin is looked at, it may not.
  func isValid(at second: Int) -> Bool {
    guard second < end,
      !changes.hasChanged(notification, since: moment.load(ordering: .relaxed))
    else { return false }
    let pluginChanges = host.changeCount
    if checkedChanges.load(ordering: .relaxed) == pluginChanges { return true }
    guard host.isCurrent(rendition.plugin) else { return false }
    checkedChanges.store(pluginChanges, ordering: .relaxed)
    return true
  }

  /// Its rendition, if the file exists; this is checked once in a second.
  func storedContent(at second: Int) -> Content? {
    guard let content else { return nil }
    if seen.load(ordering: .relaxed) == second { return content }
    guard content.exists else { return nil }
    seen.store(second, ordering: .relaxed)
    return content
  }

  /// Records that the database answered after a moment in which this was valid.
  func renew(_ moment: ChangeClock.Moment) { self.moment.max(moment, ordering: .relaxed) }

  func recordUse() { counts.count(.hit) }

  var route: String { counter.route }

  func recordEnd(status: Int, bytes: Int, nanoseconds: Int) {
    counter.count("GET", status, bytes: bytes, nanoseconds: nanoseconds)
  }
}

/// Resolved media for one caller, or for everyone with a link, as event loops send it again.
final class CachedMedia: CachedResponse {
  let media: ResolvedMedia
  private let login: Login?
  /// When the caller must be authenticated again, in seconds since 1970.
  private let end: Int
  /// Much shorter than the time for which a login is remembered.
  private static let lifetime = 600

  /// `login` is nil for a link.
  init(_ media: ResolvedMedia, for login: Login?, at second: Int) {
    (self.media, self.login) = (media, login)
    end = second + Self.lifetime
  }

  /// Who may have it; nil for a link.
  var user: UserID? { login?.user }
  var content: Content? { media.content }
  var route: String { media.route }

  func isValid(at second: Int) -> Bool {
    second < end && login?.isCurrent != false && media.isValid(at: second)
  }

  func recordUse() { media.recordUse() }

  func recordEnd(status: Int, bytes: Int, nanoseconds: Int) {
    media.recordEnd(status: status, bytes: bytes, nanoseconds: nanoseconds)
  }
}

extension Date {
  /// The time in seconds since 1970, rounded down.
  var second: Int { Int(timeIntervalSince1970.rounded(.down)) }
}
