import Delivery
import FoundationEssentials
import HTTP
import Primitives
import RichPushAPI
import Store
import Synchronization

/// The streams that are open at this node, of all feeds, within the quotas of their users and devices.
final class StreamPermits: Sendable {
  private let users = KeyedSemaphore<UserID>()
  private let devices = KeyedSemaphore<String>(width: UserQuota.streamsPerDevice)

  /// What a stream holds until it is closed.
  struct Permit: Sendable {
    fileprivate let user: KeyedSemaphore<UserID>.Permit
    fileprivate let device: KeyedSemaphore<String>.Permit?

    /// Allows another stream.
    func end() {
      user.end()
      device?.end()
    }
  }

  /// A permit for a stream of a user who may register so many devices.
  ///
  /// - Throws: `tooManyRequests` if the user or the device has too many.
  func permit(_ caller: Caller, maxDevices: Int) throws(ServiceError) -> Permit {
    let device = caller.device.map { devices.tryPermit($0) }
    if case .some(nil) = device {
      throw ServiceError(underWay: "event streams of this device", UserQuota.streamsPerDevice)
    }
    let width = UserQuota.streamsPerRegistration * maxDevices
    guard let user = users.tryPermit(caller.id, width: width) else {
      throw ServiceError(underWay: "event streams", width)
    }
    return Permit(user: user, device: device ?? nil)
  }
}

/// The open streams of one feed, by user.
///
/// A notification only triggers a read of the store, so no event is lost.
final class EventStreams: Sendable {
  let feed: EventFeed
  private let store: Store
  private let permits: StreamPermits
  private let clock: any SteadyClock
  private let open = Mutex<[UserID: [ObjectIdentifier: EventStream]]>([:])

  init(
    of feed: EventFeed, _ store: Store, _ permits: StreamPermits,
    _ clock: any SteadyClock = ContinuousClock()
  ) {
    (self.feed, self.store, self.permits, self.clock) = (feed, store, permits, clock)
  }

  /// `GET /api/push/stream`, `GET /api/events/stream`: the caller's events as they happen.
  ///
  /// `Last-Event-ID` resumes after that event; without it only new events are sent.
  ///
  /// `?counts` sends counts in the place of publishers' receipts.
  func get(_ context: RequestContext) async throws -> Response {
    let feed = try self.feed(context)
    var last = try await feed.latest()
    if let text = context.request.fields["Last-Event-ID"], !text.isEmpty {
      guard let sequence = Int(text), sequence >= 0 else {
        throw ServiceError(
          .invalidRequest, "Last-Event-ID is not the ID of an event of this stream.")
      }
      // A larger ID is from another store.
      last = min(sequence, last)
    }
    return .events(
      try await open(
        context, feed, after: last, as: ServerSentEvents(languages: context.languages)))
  }

  /// A stream of the caller's events after one of them, in a client's format.
  func open(
    _ context: RequestContext, _ feed: EventFeed, after last: Int, as format: any EventFormat
  ) async throws -> EventStream {
    let caller = context.caller
    let maxDevices = try await store.accounts.maxDevices(of: caller.id)
    // The user may have been removed or changed after the credentials were verified.
    guard try await store.isCurrent(caller) else {
      throw ServiceError(.unauthorized, "The user was removed or changed.")
    }
    let permit = try permits.permit(caller, maxDevices: maxDevices)
    return EventStream(
      of: feed, for: caller, as: format, after: last, permit: permit, clock: clock,
      opened: { [weak self] in self?.add($0) },
      isValid: { [store] in try await store.isCurrent(caller) },
      closed: { [weak self] in self?.remove($0) })
  }

  private func feed(_ context: RequestContext) throws(ServiceError) -> EventFeed {
    guard case .publishing(let store) = feed else {
      _ = try context.query()
      return feed
    }
    return try context.query("counts")["counts"] == nil ? feed : .counts(store)
  }

  /// Sends new events to these users.
  func notify(_ users: [UserID]) {
    let streams = streams(of: users)
    guard case .pushes = feed, streams.count > 1 else {
      for stream in streams { stream.sendNewEvents() }
      return
    }
    Task {
      for start in stride(from: 0, to: streams.count, by: Self.group) {
        await sendNewEvents(to: streams[start..<min(start + Self.group, streams.count)])
      }
    }
  }

  /// The streams for which events are read together.
  private static let group = 500

  /// Sends new events to streams, read together, one of each mostly.
  private func sendNewEvents(to streams: some Sequence<EventStream>) async {
    let ready = streams.compactMap { stream in stream.begin().map { (stream, last: $0) } }
    let positions = Dictionary(ready.map { ($0.caller.id, $1) }, uniquingKeysWith: min)
    let events = try? await feed.events(after: positions, limit: 2 * Self.group)
    var sent: [(UserID, [FeedEvent])] = []
    for (stream, last) in ready {
      let user = stream.caller.id
      if let events {
        let own = (events[user] ?? []).filter { $0.sequence > last }
        let shown = await stream.send(own, isAll: true)
        if !shown.isEmpty { sent.append((user, shown)) }
      }
      // Without events, because they are many or the read failed, each stream reads its own.
      stream.end(mustRepeat: events == nil)
    }
    feed.recordSent(sent)
  }

  /// Sends new events to all users.
  func notify() { notify(open.withLock { Array($0.keys) }) }

  /// Tells streams whose clients hear of it what has ended: one notification, or what a user has read.
  func tell(ofEnd notification: Int? = nil, for user: UserID? = nil) {
    let users = user.map { [$0] } ?? open.withLock { Array($0.keys) }
    let streams = streams(of: users).filter(\.tellsOfEnds)
    guard !streams.isEmpty else { return }
    Task {
      let ended = try? await store.notifications.ended(
        since: store.now() - EventStream.delay, for: Set(streams.map(\.caller.id)).sorted(),
        among: notification)
      let byUser = Dictionary(grouping: ended ?? [], by: \.user)
      for stream in streams {
        if let own = byUser[stream.caller.id] { stream.send(own) }
      }
    }
  }

  /// Closes the streams whose callers are no longer valid: those of a user, or of all users.
  func closeInvalid(of user: UserID? = nil) async {
    let users = user.map { [$0] } ?? open.withLock { Array($0.keys) }
    for stream in streams(of: users) { await stream.closeIfInvalid() }
  }

  /// The number of open streams.
  var count: Int { open.withLock { $0.values.reduce(0) { $0 + $1.count } } }

  private func streams(of users: some Sequence<UserID>) -> [EventStream] {
    open.withLock { open in users.flatMap { open[$0].map { Array($0.values) } ?? [] } }
  }

  private func add(_ stream: EventStream) {
    open.withLock { $0[stream.caller.id, default: [:]][ObjectIdentifier(stream)] = stream }
  }

  private func remove(_ stream: EventStream) {
    open.withLock { open in
      open[stream.caller.id]?[ObjectIdentifier(stream)] = nil
      if open[stream.caller.id]?.isEmpty == true { open[stream.caller.id] = nil }
    }
  }
}
