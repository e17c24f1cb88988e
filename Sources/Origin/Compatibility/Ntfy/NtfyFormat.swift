import Delivery
import FoundationEssentials
import HTTP
import Primitives
import Store

/// A stream of messages as a reader of ntfy's API wants it.
struct NtfyFormat: EventFormat {
  /// How the messages are sent.
  enum Transport: String, CaseIterable {
    case json
    case sse
    case webSocket = "ws"
  }

  let transport: Transport
  let caller: Caller
  let topics: NtfyTopics
  let subscription: NtfySubscription
  /// The languages that the reader prefers, the best first.
  let languages: [String]
  /// How the reader addresses the server.
  let base: String
  let attachments: NtfyAttachments
  let store: Store

  var form: StreamForm {
    switch transport {
    case .webSocket: .webSocket
    case .json, .sse:
      StreamForm(mediaType: transport.mediaType) { [transport, list = topics.list] in
        transport.framed(Self.notice("keepalive", NtfyID.random(), list), event: "keepalive")
      }
    }
  }

  func opening(after last: Int) -> [UInt8] {
    // Its ID resumes the stream, too.
    transport.framed(
      Self.notice("open", NtfyID.text(ofEvent: last), topics.list), event: "open")
  }

  func write(_ event: FeedEvent) async -> [UInt8]? {
    guard let message = await message(of: event) else { return nil }
    return texts(of: message).flatMap { transport.framed($0) }
  }

  /// What an event tells the reader; nil if the reader does not want it.
  func message(of event: FeedEvent) async -> NtfyDelivery? {
    guard let message = await NtfyDelivery(event, for: languages, attachments),
      !topics.holding(message.notification.to).isEmpty, message.isWanted(by: subscription)
    else { return nil }
    return message
  }

  /// The message, once for each of its topics.
  func texts(of message: NtfyDelivery) -> [String] {
    let suffix = attachments.suffix(for: caller, of: message.notification.id)
    return topics.holding(message.notification.to).map {
      message.json(in: $0, at: base, suffix: suffix)
    }
  }

  /// What is no message.
  private static func notice(
    _ event: String, _ id: String, _ topics: String, at time: Date = Date(),
    sequence: String? = nil
  ) -> String {
    JSONText.object([
      "id": JSONText.quoted(id), "time": String(Int(time.timeIntervalSince1970)),
      "event": JSONText.quoted(event), "topic": JSONText.quoted(topics),
      "sequence_id": sequence.map(JSONText.quoted),
    ])
  }
}

// MARK: - What has ended

extension NtfyFormat {
  var tellsOfEnds: Bool { true }

  /// What ended since the event after which the stream resumes: only then does the reader show anything.
  func missed() async throws -> [EndedNotification] {
    guard case .event(let sequence) = subscription.since else { return [] }
    let time = try await store.events.time(ofPushEvent: sequence) ?? store.now() - Self.longAgo
    return try await store.notifications.ended(
      since: time - EventStream.delay, for: [caller.id], among: nil)
  }

  /// How far back to look if it is not known when the reader went away, in seconds.
  private static let longAgo: TimeInterval = 86_400

  func write(_ ended: [EndedNotification], after last: Int) -> [UInt8] {
    ended.flatMap { one in
      let event = one.isWithdrawn ? NtfyAnswer.Event.deletion : .clearing
      return topics.holding(one.notification.to).flatMap { topic in
        transport.framed(
          Self.notice(
            event.rawValue, NtfyID.text(ofEndAfter: last), topic, at: one.time,
            sequence: NtfyDelivery.sequence(of: one.notification, in: topic)))
      }
    }
  }
}

extension NtfyFormat.Transport {
  /// The media type; of a WebSocket there is none.
  var mediaType: String {
    switch self {
    case .json: "application/x-ndjson; charset=utf-8"
    case .sse: "text/event-stream; charset=utf-8"
    case .webSocket: ""
    }
  }

  /// A JSON text; `event` names what is no message.
  func framed(_ text: String, event: String? = nil) -> [UInt8] {
    switch self {
    case .json: Array((text + "\n").utf8)
    case .sse: ServerSentEvent(name: event, data: text).bytes
    case .webSocket: WebSocketFrame.text(text)
    }
  }
}
