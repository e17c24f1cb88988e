package import FoundationEssentials
import Media
package import Push
package import Store
package import Primitives

/// Posts every event to the operator's webhook: at least once, roughly in order, with retries.
///
/// Its position is kept in the store. Events that the webhook has not accepted for a week, or rejects
/// permanently, are dropped.
package actor WebhookDelivery {
  private let store: Store
  private let webhook: Webhook?
  private let log: Log
  private let now: @Sendable () -> Date
  private var waiting: [StoredEvent] = []
  private var failures = 0
  /// The pause after a failure; before it only if the clock was set back.
  private var pause = Date.distantPast..<Date.distantPast
  private var position: Int?

  private static let reader = "webhook"
  private static let batch = 128
  private static let backoff = Backoff(first: .seconds(1), longest: .seconds(300))

  /// Without a webhook, no events are kept for a later one; a new webhook gets events from its first
  /// start.
  package init(
    store: Store, webhook: Webhook?, log: Log, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.store, self.webhook, self.log, self.now) = (store, webhook, log, now)
    if webhook != nil { store.events.createCursor(of: Self.reader) }
  }

  /// Delivers all events; returns the time of the next attempt if the webhook did not accept them.
  func deliver() async -> Date? {
    guard let webhook else {
      if position == nil { await forget() }
      return nil
    }
    if pause.contains(now()) { return pause.upperBound }
    do {
      while !Task.isCancelled, try await fetch() {
        let left = await post(waiting, to: webhook)
        waiting = waiting.filter { left[$0.sequence] != nil && !isStale($0) }
        guard waiting.isEmpty else { return beginPause(left.values) }
        failures = 0
        try await store.events.setCursor(position, of: Self.reader)
      }
      return nil
    } catch {
      log(.error, "events", "the store does not respond: \(error.logDescription)")
      return nil
    }
  }

  /// Forgets the position, because another node delivers the events.
  func passOn() { (waiting, position) = ([], nil) }

  /// Reads the next events if no others are waiting; false if there are none.
  private func fetch() async throws -> Bool {
    if !waiting.isEmpty { return true }
    if position == nil { position = try await store.events.cursor(of: Self.reader) }
    guard let start = position else { return false }
    waiting = try await store.events.events(after: start, for: nil, limit: Self.batch)
    position = waiting.last?.sequence ?? start
    return !waiting.isEmpty
  }

  /// Posts events concurrently; returns the outcomes of events that must be posted again.
  private func post(_ events: [StoredEvent], to webhook: Webhook) async -> [Int: PushOutcome] {
    await withTaskGroup(of: (StoredEvent, PushOutcome).self) { group in
      for event in events {
        group.addTask { (event, await webhook.post(event.text, id: event.token)) }
      }
      var left: [Int: PushOutcome] = [:]
      for await (event, outcome) in group {
        switch outcome {
        case .delivered: break
        case .rejected(let reason), .deadToken(_, let reason), .refused(let reason):
          log(
            .error, "events", "\(event.type) \(event.token) was dropped. \(reason)")
        case .retry, .throttled, .held, .unavailable, .laneStopped: left[event.sequence] = outcome
        }
      }
      return left
    }
  }

  private func beginPause(_ outcomes: some Sequence<PushOutcome>) -> Date {
    failures += 1
    var wait = Self.backoff.delay(after: failures, random: .random(in: 0...1))
    for outcome in outcomes {
      switch outcome {
      case .unavailable(let after, let reason), .retry(let after, let reason),
        .throttled(let after, let reason):
        wait = max(wait, after ?? .zero)
        if failures == 1 { log(.warning, "events", reason) }
      case .laneStopped(let reason):
        if failures == 1 { log(.warning, "events", reason) }
      default: break
      }
    }
    let start = now()
    pause = start..<(start + wait / .seconds(1))
    return pause.upperBound
  }

  private func forget() async {
    position = 0
    do { try await store.events.setCursor(nil, of: Self.reader) } catch {
      log(.error, "events", "the store does not respond: \(error.logDescription)")
    }
  }

  private func isStale(_ event: StoredEvent) -> Bool {
    event.time < now() - Retention().eventAge
  }
}
