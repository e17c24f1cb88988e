import Delivery
import HTTP
import Store

/// How a client reads a stream of events.
protocol EventFormat: Sendable {
  /// How the stream is sent.
  var form: StreamForm { get }
  /// What it begins with, before what follows an event.
  func opening(after last: Int) -> [UInt8]
  /// Whether the client hears of notifications that end.
  var tellsOfEnds: Bool { get }
  /// Those that ended before the stream began, of which the client has not heard.
  func missed() async throws -> [EndedNotification]
  /// Tells of notifications that ended, to a client that has got the events up to one.
  func write(_ ended: [EndedNotification], after last: Int) -> [UInt8]
  /// Writes an event; nil if the client does not get it.
  func write(_ event: FeedEvent) async -> [UInt8]?
}

extension EventFormat {
  var tellsOfEnds: Bool { false }

  func missed() -> [EndedNotification] { [] }

  func write(_ ended: [EndedNotification], after last: Int) -> [UInt8] { [] }
}

/// Server-sent events, with their sequence numbers as IDs.
struct ServerSentEvents: EventFormat {
  /// The languages that the client prefers, the best first.
  let languages: [String]

  var form: StreamForm { .serverSentEvents }

  /// An ID without data, so that a client disconnected before the first event can resume, too.
  func opening(after last: Int) -> [UInt8] { Array("id: \(last)\n\n".utf8) }

  func write(_ event: FeedEvent) -> [UInt8]? {
    ServerSentEvent(
      id: String(event.sequence), name: event.name, data: event.data(for: languages)
    ).bytes
  }
}
