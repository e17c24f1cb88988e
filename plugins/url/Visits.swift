import Synchronization

/// The last visits, so that one publication asks somebody else's server once and not per profile.
///
/// Failures are remembered too: a server that hangs costs its patience once.
final class Visits: Sendable {
  private struct Entry {
    let visit: Visit
    let time: ContinuousClock.Instant
  }

  private let entries = Mutex<[String: Entry]>([:])

  private static let memory = Duration.seconds(60)
  private static let most = 32

  /// A visit of the last minute, or a new one.
  func visit(_ link: Link, by fetcher: Fetcher?) -> Visit {
    let now = ContinuousClock.now
    let known = entries.withLock { entries in
      entries = entries.filter { $1.time.duration(to: now) < Self.memory }
      return entries[link.url]?.visit
    }
    if let known { return known }
    let visit = Visit(link, by: fetcher)
    entries.withLock { entries in
      if entries.count >= Self.most { entries = [:] }
      entries[link.url] = Entry(visit: visit, time: .now)
    }
    return visit
  }
}
