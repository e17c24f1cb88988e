import FoundationEssentials
import Primitives
import RichPushAPI
import Store
import Synchronization

/// The statistics of notifications that were asked for last.
///
/// To count a notification again takes longer the more recipients it has, and pages that are open ask every two seconds.
/// So it is counted again once its counts have changed, for at most a tenth of the time.
final class StatisticsCache: Sendable {
  typealias Counted = (statistics: CountedNotification, time: Date)

  private struct Entry {
    let counted: Counted
    /// Of what it was counted.
    let counts: NotificationCounts
    let state: SentPage.Entry.State
    let start: Date
    /// When it ended, and how long it took.
    let end: ContinuousClock.Instant
    let duration: Duration

    func isCurrent(_ sent: SentNotification, _ state: SentPage.Entry.State) -> Bool {
      state == self.state && sent.start == start
    }
  }

  private let store: Store
  /// The platforms to which no push service sends.
  private let unserved: Set<String>
  private let clock: any SteadyClock
  private struct Key: Hashable {
    let notification: Int
    /// The segment among whose users it was counted; nil for all recipients.
    let segment: String?
  }

  private let entries = Mutex<[Key: Entry]>([:])
  /// The most that are kept, of some kilobytes each.
  private static let limit = 200
  /// How long one stays valid whose counts do not change: devices may have come or gone.
  private static let age = Duration.seconds(60)

  init(store: Store, unserved: Set<String>, clock: any SteadyClock) {
    (self.store, self.unserved, self.clock) = (store, unserved, clock)
  }

  /// What became of a notification, perhaps only with the users of a segment, and when that was counted.
  func statistics(
    of sent: SentNotification, segment: (name: String, users: () async throws -> Set<UserID>)? = nil
  ) async throws -> Counted {
    // Who has waited may find what was counted meanwhile.
    if let known = known(sent, segment: segment?.name) { return known }
    let (time, begin) = (store.now(), clock.now)
    let state = sent.state(at: time)
    let statistics = try await store.statistics.statistics(
      of: sent.notification.id, since: sent.start,
      hasEnded: [.withdrawn, .expired].contains(state), unserved: unserved,
      among: segment?.users())
    let end = clock.now
    let entry = Entry(
      counted: (statistics, time), counts: sent.counts, state: state, start: sent.start, end: end,
      duration: end - begin)
    entries.withLock { entries in
      entries[Key(notification: sent.notification.id, segment: segment?.name)] = entry
      if entries.count > Self.limit, let oldest = entries.min(by: { $0.value.end < $1.value.end }) {
        entries[oldest.key] = nil
      }
    }
    return entry.counted
  }

  /// What is known of a notification and still counts; nil if it is to be counted.
  func known(_ sent: SentNotification, segment: String? = nil) -> Counted? {
    let key = Key(notification: sent.notification.id, segment: segment)
    guard let entry = entries.withLock({ $0[key] }),
      entry.isCurrent(sent, sent.state(at: store.now()))
    else { return nil }
    let age = clock.now - entry.end
    let isCurrent = age < Self.age && entry.counts == sent.counts
    return isCurrent || age < entry.duration * 9 ? entry.counted : nil
  }
}

extension SentNotification {
  /// When its time came, or will come.
  fileprivate var start: Date { notification.notBefore ?? notification.created }
}
