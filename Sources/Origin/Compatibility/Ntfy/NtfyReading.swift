import Delivery
import FoundationEssentials
import HTTP
import Primitives
import RichPushAPI
import Store

/// ntfy's API for readers: the events of the caller's pushes, in topics.
struct NtfyReading: Sendable {
  private let streams: EventStreams
  private let signed: SignedMediaRoutes
  private let attachments: NtfyAttachments
  private let log: Log
  /// The most messages of a response that is no stream.
  private static let mostPolled = 1000
  private static let batch = 100

  private var store: Store { signed.media.store }

  init(streams: EventStreams, signed: SignedMediaRoutes, log: Log) {
    (self.streams, self.signed, self.log) = (streams, signed, log)
    attachments = NtfyAttachments(signed)
  }

  func routes(in dialect: NtfyDialect) -> [Route] {
    let subscriptions = NtfyFormat.Transport.allCases.map { transport in
      let isWebSocket = transport == .webSocket
      return Route(
        "GET", "/{}/" + transport.rawValue, for: .user, by: .token,
        ready: { isWebSocket ? WebSocketHandshake.refusal(of: $0.request) : nil }, in: dialect
      ) { try await subscribe($0, by: transport) }
    }
    let clearing = ["PUT", "POST"].map { method in
      Route(
        method, "/{}/{}/clear", for: .user, by: .token, body: .memory(limit: 4096), in: dialect,
        clear)
    }
    return subscriptions + clearing + [
      Route("GET", "/{}/auth", for: .user, by: .token, in: dialect, mayRead),
      // Beside the topics, so that an app needs no other host.
      Route(
        "GET", "/media/{}/{}", for: .anybody, deadline: RouteTable.renderTime, in: dialect,
        signed.get),
    ]
  }

  /// `GET /<topics>/auth`: whether the caller may read them.
  private func mayRead(_ context: RequestContext) async throws -> Response {
    _ = try await topics(context)
    return .foreign(200, #"{"success":true}"#)
  }

  /// The topics of the path, all of which the caller may read.
  private func topics(_ context: RequestContext) async throws -> NtfyTopics {
    let caller = context.caller
    let devices = try await store.accounts.registrations(ofUser: caller.id)
    let own = devices.filter { caller.device == nil || $0.id == caller.device }
    do throws(ServiceError) {
      return try NtfyTopics(
        context.parameters.first ?? "", tags: Set(own.flatMap(\.tags)),
        inboxes: Set(own.compactMap(NtfyInbox.topic)))
    } catch {
      // The app's connection for all of its topics fails, without telling its user why.
      log(
        .notice, "compat", "ntfy: user \(caller.id.rawValue) cannot subscribe: \(error.reason)",
        request: context.request.id)
      throw error
    }
  }

  /// `GET /<topics>/json`, `/sse` and `/ws`.
  private func subscribe(
    _ context: RequestContext, by transport: NtfyFormat.Transport
  ) async throws -> Response {
    let format = NtfyFormat(
      transport: transport, caller: context.caller, topics: try await topics(context),
      subscription: try NtfySubscription(context.request, now: Date()),
      languages: context.languages, base: context.request.ownAddress, attachments: attachments,
      store: store)
    if format.subscription.isPoll, transport != .webSocket { return try await poll(format) }
    let stream = try await streams.open(
      context, streams.feed, after: try await start(format), as: format)
    return transport == .webSocket
      ? .webSocket(stream, to: context.request) : .events(stream)
  }

  /// The event after which a stream begins.
  private func start(_ format: NtfyFormat) async throws -> Int {
    let last = try await streams.feed.latest()
    switch format.subscription.since {
    case .now: return last
    // A larger one is from another store.
    case .event(let sequence): return min(sequence, last)
    case .beginning, .time: return 0
    case .latest:
      return try await messages(format, after: 0).last.map { $0.event.sequence - 1 } ?? last
    }
  }

  /// The messages that there are.
  private func poll(_ format: NtfyFormat) async throws -> Response {
    let start = try await start(format)
    let found = try await messages(format, after: start)
    streams.feed.recordSent([(format.caller.id, found.map(\.event))])
    let lines = found.flatMap { format.texts(of: $0.message) }.flatMap {
      format.transport.framed($0)
    }
    let last = found.last?.event.sequence ?? start
    let ends = format.write(try await format.missed(), after: last)
    return .bytes(
      200, lines + ends, type: format.transport.mediaType, fields: ["Cache-Control": "no-store"])
  }

  /// The newest messages after an event that the reader wants, each as it was sent last.
  private func messages(
    _ format: NtfyFormat, after start: Int
  ) async throws -> [(event: FeedEvent, message: NtfyDelivery)] {
    var (found, last) = ([(event: FeedEvent, message: NtfyDelivery)](), start)
    while true {
      let events = try await streams.feed.events(
        for: format.caller.id, role: format.caller.role, after: last, limit: Self.batch)
      for event in events {
        guard let message = await format.message(of: event) else { continue }
        found.removeAll { $0.message.notification.id == message.notification.id }
        found.append((event, message))
      }
      found = found.suffix(Self.mostPolled)
      guard events.count == Self.batch, let next = events.last?.sequence else { return found }
      last = next
    }
  }

  /// `PUT /<topic>/<sequence>/clear`: marks the caller's messages of a sequence read.
  private func clear(_ context: RequestContext) async throws -> Response {
    let (topics, caller) = (try await topics(context), context.caller)
    guard let topic = topics.names.first, let sequence = context.parameters.last else {
      throw Self.noMessage
    }
    var isFound = false
    for id in try await unread(sequence, in: topic, of: caller.id) {
      let isTheirs = try await store.notifications.markRead(
        id, user: caller.id, device: caller.device)
      isFound = isFound || isTheirs
    }
    guard isFound else { throw Self.noMessage }
    return NtfyAnswer(
      id: NtfyID.random(), time: Date(), event: .clearing, topic: topic, sequence: sequence
    ).response
  }

  /// The notifications of a sequence that the user may not have read.
  private func unread(
    _ sequence: String, in topic: String, of user: UserID
  ) async throws -> [Int] {
    if let id = NtfyID.number(sequence) { return [id] }
    return try await store.notifications.inbox(
      of: user, unreadOnly: true, limit: 500, before: nil
    ).map(\.notification).filter { NtfyDelivery.sequence(of: $0, in: topic) == sequence }.map(\.id)
  }

  private static let noMessage = ServiceError(
    .notFound, "You have no unread message of this sequence in this topic.")
}
