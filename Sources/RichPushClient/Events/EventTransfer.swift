#if !canImport(FoundationNetworking)
  import Foundation

  /// Passes on what `URLSession` reports, at once and unbuffered.
  final class EventTransfer: Sendable {
    private let session: URLSession

    init(
      _ request: URLRequest,
      to continuation: AsyncThrowingStream<EventConnection.Part, any Error>.Continuation
    ) {
      let configuration = Connections.configuration
      configuration.timeoutIntervalForRequest = Double(EventConnection.patience)
      session = URLSession(
        configuration: configuration, delegate: EventReceiver(continuation), delegateQueue: nil)
      session.dataTask(with: request).resume()
    }

    func cancel() { session.invalidateAndCancel() }
  }

  private final class EventReceiver: NSObject, URLSessionDataDelegate, Sendable {
    private let continuation: AsyncThrowingStream<EventConnection.Part, any Error>.Continuation

    init(_ continuation: AsyncThrowingStream<EventConnection.Part, any Error>.Continuation) {
      self.continuation = continuation
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
      let status = (response as? HTTPURLResponse)?.statusCode ?? 0
      continuation.yield(.answer(status: status, error: RichPushError(response, body: Data())))
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
#endif
