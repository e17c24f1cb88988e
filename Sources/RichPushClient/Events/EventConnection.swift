import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One connection to the event stream: its answer, then its bytes as they arrive.
///
/// Letting go of the last reference closes it.
final class EventConnection: Sendable {
  /// What comes over a connection, in order.
  enum Part: Sendable {
    case answer(status: Int, error: RichPushError?)
    case bytes(Data)
  }

  private let session: URLSession
  private let parts: AsyncThrowingStream<Part, any Error>

  /// Connects; a connection that is silent for longer than three heartbeats counts as broken.
  init(_ request: URLRequest) {
    let configuration = Connections.configuration
    configuration.timeoutIntervalForRequest = 45
    let receiver = EventReceiver()
    session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    parts = receiver.parts
    session.dataTask(with: request).resume()
  }

  /// The next part; nil when the connection has ended, an error when it broke.
  func next() async throws -> Part? {
    var iterator = parts.makeAsyncIterator()
    return try await iterator.next()
  }

  deinit { session.invalidateAndCancel() }
}

/// Passes on what `URLSession` reports, at once and unbuffered.
private final class EventReceiver: NSObject, URLSessionDataDelegate, Sendable {
  let parts: AsyncThrowingStream<EventConnection.Part, any Error>
  private let continuation: AsyncThrowingStream<EventConnection.Part, any Error>.Continuation

  /// A reader that falls this many pieces behind is cut off; it reconnects and loses nothing.
  override init() {
    (parts, continuation) = AsyncThrowingStream.makeStream(bufferingPolicy: .bufferingOldest(1024))
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    continuation.yield(
      .answer(status: status, error: RichPushError(response, body: Data())))
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if case .dropped = continuation.yield(.bytes(data)) {
      continuation.finish()
      dataTask.cancel()
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    continuation.finish(throwing: error)
  }
}
