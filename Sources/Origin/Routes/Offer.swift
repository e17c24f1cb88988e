import FoundationEssentials
import HTTP
import Synchronization

/// What one address gives to everybody who may open it.
final class Offer: StandingAnswer {
  let wish: Wish
  /// What is stored; nil for what was not made yet, and for what its plugin is asked for each time.
  let content: Content?
  /// Whether nothing that is made of it can be kept.
  let isMadeEachTime: Bool
  let route: String
  private let expires: Date?
  private let counts: RenditionCounts
  private let isOver = Atomic(false)
  /// The look (``PluginGlance/look(at:)``) that it was last found right in.
  private let seen: Atomic<Int>

  init(
    _ wish: Wish, _ content: Content?, at route: String, expires: Date?, seen look: Int,
    counts: RenditionCounts
  ) {
    (self.wish, self.content, self.route) = (wish, content, route)
    (self.expires, self.counts, isMadeEachTime) = (expires, counts, false)
    seen = Atomic(look)
  }

  /// The same once it was made; nil when it cannot be kept.
  init(_ offer: Offer, made content: Content?) {
    (wish, self.content, route) = (offer.wish, content, offer.route)
    (expires, counts, isMadeEachTime) = (offer.expires, offer.counts, content == nil)
    seen = Atomic(offer.seen.load(ordering: .relaxed))
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

  func take() { counts.count(.hit) }
}
