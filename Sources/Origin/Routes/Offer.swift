import FoundationEssentials
import HTTP
import Synchronization

/// What one address gives to every recipient of its notification.
final class Offer: Lease {
  let wish: Wish
  /// What is stored; nil for what its plugin is asked for each time.
  let content: Content?
  private let expires: Date?
  private let counts: RenditionCounts
  private let isOver = Atomic(false)
  /// The second, since 1970, in which it was last looked over.
  private let seen: Atomic<Int>

  init(
    _ wish: Wish, _ content: Content?, expires: Date?, at moment: Date, counts: RenditionCounts
  ) {
    (self.wish, self.content, self.expires, self.counts) = (wish, content, expires, counts)
    seen = Atomic(Int(moment.timeIntervalSince1970))
  }

  /// The answer, which may be given again to the same caller as long as the offer stands; nil when
  /// nothing is stored.
  var response: Response? {
    guard let content else { return nil }
    var response = Response.content(content)
    response.lease = self
    return response
  }

  /// Whether it still stands, as far as can be told without a look at the disk.
  func stands(at moment: Date) -> Bool {
    !isOver.load(ordering: .sequentiallyConsistent) && expires.map { $0 > moment } ?? true
  }

  /// Whether nobody has looked it over in this second; says so only once.
  func isUnseen(at moment: Date) -> Bool {
    let second = Int(moment.timeIntervalSince1970)
    return seen.exchange(second, ordering: .relaxed) != second
  }

  /// It stands no more.
  func end() { isOver.store(true, ordering: .sequentiallyConsistent) }

  /// Counts a hit.
  func take() { counts.count(.hit) }

  func renew() -> Bool {
    guard !isOver.load(ordering: .sequentiallyConsistent) else { return false }
    if let expires, expires <= Date() { return false }
    take()
    return true
  }
}
