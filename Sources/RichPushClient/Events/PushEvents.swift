#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A user's pushes, or a publisher's events; each iteration has its own connection.
public struct PushEvents: AsyncSequence, Sendable {
  let client: RichPushClient
  let lastEventID: String?
  let path: [String]
  let sender: Sender
  let connected: @Sendable (String) -> Void

  /// Creates an iterator, which connects at its first use.
  public func makeAsyncIterator() -> Iterator {
    Iterator(source: self, parser: EventStreamParser(lastEventID: lastEventID ?? ""))
  }

  /// Keeps a connection open, and reconnects when it ends.
  public struct Iterator: AsyncIteratorProtocol {
    let source: PushEvents
    var parser: EventStreamParser
    private var pending: ArraySlice<PushEvent> = []
    private var connection: ResponseParts?
    private var delay = ReconnectDelay()
    private var hasReported = false
    /// The token that opened the connection, and the one that the server has just rejected.
    private var token: String?
    private var rejectedToken: String?

    init(source: PushEvents, parser: EventStreamParser) {
      (self.source, self.parser) = (source, parser)
    }

    /// Waits for the next event, also across lost connections.
    public mutating func next() async throws -> PushEvent? {
      while true {
        if let event = pending.popFirst() { return event }
        try Task.checkCancellation()
        do {
          try await receive()
        } catch let error as RichPushError where error.isFinal {
          throw error
        } catch {
          connection = nil
          try await source.client.wait(
            delay.next(atLeast: (error as? RichPushError)?.retryAfter))
        }
      }
    }

    /// Processes the next part of the connection, after opening one if there is none.
    private mutating func receive() async throws {
      if connection == nil { try await connect() }
      guard var parts = connection?.makeAsyncIterator() else { return }
      guard let part = try await parts.next() else {
        throw RichPushError(.unreachable, "The server closed the event stream.")
      }
      switch part {
      case .head(let response):
        if response.status == 401, token != nil, rejectedToken == nil, source.client.basic != nil {
          (connection, rejectedToken) = (nil, token)
          return
        }
        rejectedToken = nil
        if let error = RichPushError(response) { throw error }
        delay.reset()
        hasReported = false
      case .bytes(let data):
        try read(data)
        if !hasReported { source.connected(parser.lastEventID) }
        hasReported = true
      }
    }

    private mutating func read(_ data: Data) throws {
      for item in try parser.read(data) {
        switch item {
        case .event(let id, let text): pending.append(PushEvent(id: id, text: text))
        case .retry(let milliseconds): delay.shortest = .milliseconds(milliseconds)
        }
      }
    }

    /// Connects with a new parser: the server sends an incomplete event again.
    private mutating func connect() async throws {
      parser = EventStreamParser(lastEventID: parser.lastEventID)
      var request = try source.client.request("GET", source.path)
      request.timeout = 45  // three heartbeats
      request.fields["Accept"] = "text/event-stream"
      if !parser.lastEventID.isEmpty { request.fields["Last-Event-ID"] = parser.lastEventID }
      (request, token) = try await source.client.authorized(
        request, as: source.sender, insteadOf: rejectedToken)
      // A reader that is this many parts behind is disconnected, and resumes without loss.
      connection = source.client.transport.parts(of: request, buffering: .bufferingOldest(1024))
    }
  }
}

extension RichPushError {
  /// Whether trying again is useless.
  fileprivate var isFinal: Bool {
    switch code {
    case .unreachable, .unavailable, .failed, .malformed: false
    case .unauthorized, .notFound, .refused, .unreadable: true
    }
  }
}

/// The delay before reconnecting: exponential backoff with jitter.
struct ReconnectDelay {
  /// The longest delay after the first failure; the server can set it.
  var shortest = Duration.seconds(1)
  private var failures = 0

  /// The next delay: doubled up to 30 seconds, then reduced by up to half at random.
  ///
  /// The jitter keeps many phones from reconnecting in the same second after the server restarts.
  mutating func next(atLeast seconds: Double? = nil) -> Duration {
    let shortest = min(shortest, .seconds(RetryAfter.longest))
    let doubled = shortest * (1 << min(failures, 6))
    failures += 1
    let delay = min(doubled, max(.seconds(30), shortest)) * Double.random(in: 0.5...1)
    return max(delay, .seconds(seconds ?? 0))
  }

  /// Starts over after a successful connection.
  mutating func reset() { failures = 0 }
}

/// The events of a server's assets; each iteration has its own connection.
public typealias AssetEvents = AsyncCompactMapSequence<PushEvents, AssetEvent>
