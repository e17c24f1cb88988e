import Synchronization

/// An HTTP client for push services, with few, long-lived connections: over HTTP/2 many requests at once on
/// each, or over HTTP/1.1 one after the other.
///
/// One thread runs libcurl's multi interface; it ends when the client is released.
final class CurlClient: Sendable {
  private let thread: CurlThread
  private let isOfOneService: Bool

  /// How a client connects.
  struct Options: Sendable {
    /// A PEM file with certificates to trust besides the system's, or nil.
    var trustAnchor: String?
    /// The most connections to each host.
    var connections: Int
    /// Whether to send many requests at once over each connection (HTTP/2).
    var isMultiplexing = false
    /// The time after which a request without a response fails.
    var timeout: Duration
    /// The most transfers at once, for a client of many services that users chose; it uses no proxy.
    ///
    /// Nil for one service, whose number of transfers follows its response time.
    var transfers: Int?
  }

  init(_ options: Options) throws(PushError) {
    isOfOneService = options.transfers == nil
    thread = try CurlThread(options)
    try thread.launch()
  }

  deinit { thread.stop() }

  /// Sends a request; cancelling the task cancels it.
  func send(_ request: ServiceRequest) async -> CurlTransfer.Response {
    let response = Mutex(
      CurlTransfer.Response.failure(ServiceFailure(reason: "no answer", isTimeout: false)))
    await send([request]) { _, result in response.withLock { $0 = result } }
    return response.withLock { $0 }
  }

  /// Sends requests at once and returns after the last response; cancelling the task cancels them.
  ///
  /// Calls `then` with each request's index and response on the curl thread, so it must not block.
  func send(
    _ requests: [ServiceRequest], then: @escaping @Sendable (Int, CurlTransfer.Response) -> Void
  ) async {
    guard !requests.isEmpty else { return }
    let started = Mutex<[CurlTransfer]>([])
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let batch = CurlTransfer.Batch(of: requests.count) {
          [thread, isOfOneService] index, response in
          // Over HTTP/2 libcurl would use the connection for ever.
          if isOfOneService, case .failure(let failure) = response, failure.isTimeout {
            thread.reconnect()
          }
          then(index, response)
        } end: {
          continuation.resume()
        }
        let transfers = requests.enumerated().map { CurlTransfer($1, index: $0, in: batch) }
        started.withLock { $0 = transfers }
        thread.start(transfers)
        if Task.isCancelled { thread.cancel(transfers) }
      }
    } onCancel: {
      thread.cancel(started.withLock { $0 })
    }
  }

  /// Sends further requests over new connections; those under way finish where they are.
  func reconnect() { thread.reconnect() }
}

/// A request in flight, and the batch that waits for its response.
// Unchecked: after its start only the curl thread uses it.
final class CurlTransfer: @unchecked Sendable {
  typealias Response = Result<ServiceResponse, ServiceFailure>

  /// Requests that were sent together.
  final class Batch: Sendable {
    private let remaining: Atomic<Int>
    private let then: @Sendable (Int, Response) -> Void
    private let end: @Sendable () -> Void

    /// Calls `then` with each request's index and response, and `end` after the last of them.
    init(
      of count: Int, then: @escaping @Sendable (Int, Response) -> Void,
      end: @escaping @Sendable () -> Void
    ) {
      remaining = Atomic(count)
      self.then = then
      self.end = end
    }

    fileprivate func finish(_ index: Int, _ response: Response) {
      then(index, response)
      if remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { end() }
    }
  }

  let request: ServiceRequest
  private let index: Int
  private let batch: Batch

  /// Its handle while it is in flight.
  var handle: EasyHandle?
  /// Whether its batch has the response.
  private(set) var isFinished = false

  init(_ request: ServiceRequest, index: Int, in batch: Batch) {
    (self.request, self.index, self.batch) = (request, index, batch)
  }

  /// Passes the response to the batch, once.
  func finish(_ response: Response) {
    guard !isFinished else { return }
    isFinished = true
    batch.finish(index, response)
  }

  /// Ends it without a response.
  func fail(_ reason: String) {
    finish(.failure(ServiceFailure(reason: reason, isTimeout: false)))
  }
}
