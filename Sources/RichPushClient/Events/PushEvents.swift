import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A user's pushes, or a publisher's events, as they come; each iteration is a listener of its own.
public struct PushEvents: AsyncSequence, Sendable {
  let client: RichPushClient
  let lastEventID: String?
  let path: [String]
  let connected: @Sendable (String) -> Void

  /// Starts to listen.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      client: client, path: path, parser: EventStreamParser(lastEventID: lastEventID ?? ""),
      connected: connected)
  }

  /// One listener: it holds a connection, and opens another when that one ends.
  public struct Iterator: AsyncIteratorProtocol {
    private let client: RichPushClient
    private let path: [String]
    private let connected: @Sendable (String) -> Void
    private var parser: EventStreamParser
    private var pending: ArraySlice<PushEvent> = []
    private var connection: EventConnection?
    private var pause = Pause()
    private var isGreeted = false

    init(
      client: RichPushClient, path: [String], parser: EventStreamParser,
      connected: @escaping @Sendable (String) -> Void
    ) {
      self.client = client
      self.path = path
      self.connected = connected
      self.parser = parser
    }

    /// The next push; waits, also over lost connections, until there is one.
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
          try await Task.sleep(for: pause.next(atLeast: (error as? RichPushError)?.retryAfter))
        }
      }
    }

    /// Takes the next piece of the connection, which is opened first where there is none.
    private mutating func receive() async throws {
      let connection = try connection ?? connect()
      guard let part = try await connection.next() else {
        throw RichPushError(.unreachable, "The server closed the event stream.")
      }
      switch part {
      case .answer(_, let error?): throw error
      case .answer:
        pause.reset()
        isGreeted = false
      case .bytes(let data):
        try read(data)
        if !isGreeted { connected(parser.lastEventID) }
        isGreeted = true
      }
    }

    private mutating func read(_ data: Data) throws {
      for item in try parser.read(data) {
        switch item {
        case .event(let id, let text): pending.append(PushEvent(id: id, text: text))
        case .retry(let milliseconds): pause.shortest = .milliseconds(milliseconds)
        }
      }
    }

    /// A half-received event is forgotten: the server sends it again.
    private mutating func connect() throws -> EventConnection {
      parser = EventStreamParser(lastEventID: parser.lastEventID)
      var request = try client.request("GET", path)
      request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
      if !parser.lastEventID.isEmpty {
        request.setValue(parser.lastEventID, forHTTPHeaderField: "Last-Event-ID")
      }
      let connection = EventConnection(request)
      self.connection = connection
      return connection
    }
  }
}

extension RichPushError {
  /// Whether waiting cannot mend it.
  fileprivate var isFinal: Bool {
    switch code {
    case .unreachable, .unavailable, .malformed: false
    case .unauthorized, .notFound, .refused, .unreadable: true
    }
  }
}
