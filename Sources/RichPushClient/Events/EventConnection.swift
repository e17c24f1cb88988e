import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import CCurl
  import FoundationNetworking
#endif

/// One connection to an event stream.
///
/// Releasing the last reference closes it.
final class EventConnection: Sendable {
  /// What arrives on a connection, in order.
  enum Part: Sendable {
    /// The head of the response; the error of any status but 2xx.
    case response(error: RichPushError?)
    case bytes(Data)
  }
  typealias Parts = AsyncThrowingStream<Part, any Error>

  /// The time without any byte after which a connection counts as broken: three heartbeats, in seconds.
  static let timeout = 45
  /// The parts that are buffered; a slower reader is disconnected, and resumes without loss.
  static let bufferSize = 1024

  private let transfer: EventTransfer
  private let parts: Parts

  /// Connects.
  init(_ request: URLRequest) {
    let (parts, continuation) = Parts.makeStream(
      bufferingPolicy: .bufferingOldest(Self.bufferSize))
    self.parts = parts
    transfer = EventTransfer(request, to: continuation)
  }

  /// The next part; nil when the connection has ended, an error when it broke.
  func next() async throws -> Part? {
    var iterator = parts.makeAsyncIterator()
    return try await iterator.next()
  }

  deinit { transfer.cancel() }
}

#if canImport(FoundationNetworking)
  /// Receives an event stream by libcurl, on a thread of its own.
  ///
  /// `URLSession` on Linux occupies a processor while a response is open, because it polls whether it could
  /// write.
  final class EventTransfer: Sendable {
    private let request: URLRequest
    private let continuation: EventConnection.Parts.Continuation
    private let head = Mutex<[String]>([])
    private let isCancelled = Atomic(false)

    init(_ request: URLRequest, to continuation: EventConnection.Parts.Continuation) {
      (self.request, self.continuation) = (request, continuation)
      Thread { self.run() }.start()
    }

    /// Ends the transfer, within a second.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    private func run() {
      guard let handle = curl_easy_init() else {
        return continuation.finish(throwing: RichPushError(.unreachable, "libcurl does not start."))
      }
      defer { curl_easy_cleanup(handle) }
      var fields: UnsafeMutablePointer<curl_slist>?
      for (name, value) in request.allHTTPHeaderFields ?? [:] {
        fields = curl_slist_append(fields, "\(name): \(value)")
      }
      defer { curl_slist_free_all(fields) }
      _ = ccurl_set_text(handle, CURLOPT_URL, request.url?.absoluteString ?? "")
      _ = ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, fields)
      for (option, value) in [
        (CURLOPT_NOSIGNAL, 1), (CURLOPT_CONNECTTIMEOUT, 30), (CURLOPT_LOW_SPEED_LIMIT, 1),
        (CURLOPT_LOW_SPEED_TIME, EventConnection.timeout),
      ] { _ = ccurl_set_number(handle, option, value) }
      ccurl_set_socket_habits(handle)
      // Unretained, because `curl_easy_perform` returns before this function does.
      let context = Unmanaged.passUnretained(self).toOpaque()
      ccurl_set_receivers(handle, Self.onField, Self.onBody, context)
      ccurl_set_progress(handle, Self.onProgress, context)
      let result = curl_easy_perform(handle)
      let reason = String(cString: curl_easy_strerror(result))
      continuation.finish(
        throwing: result == CURLE_OK
          ? nil : RichPushError(.unreachable, "The event stream broke: \(reason)."))
    }

    private static func transfer(_ context: UnsafeMutableRawPointer?) -> EventTransfer? {
      context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    private static let onField: ccurl_receiver = { bytes, size, count, context in
      let line = String(
        decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self)
      transfer(context)?.receive(line.trimmingCharacters(in: .newlines))
      return size * count
    }

    private static let onBody: ccurl_receiver = { bytes, size, count, context in
      guard let transfer = transfer(context), let bytes else { return 0 }
      let piece = Data(bytes: bytes, count: size * count)
      if case .dropped = transfer.continuation.yield(.bytes(piece)) { return 0 }
      return size * count
    }

    private static let onProgress: curl_xferinfo_callback = { context, _, _, _, _ in
      transfer(context)?.isCancelled.load(ordering: .relaxed) ?? true ? 1 : 0
    }

    /// Collects the lines of the response's head until an empty one; ignores heads of 1xx.
    private func receive(_ line: String) {
      guard line.isEmpty else { return head.withLock { $0.append(line) } }
      let lines = head.withLock { lines in
        defer { lines = [] }
        return lines
      }
      let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      guard status >= 200, let url = request.url else { return }
      let fields = lines.dropFirst().map { line in
        let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
        return (parts[0], parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
      }
      let response = HTTPURLResponse(
        url: url, statusCode: status, httpVersion: nil,
        headerFields: Dictionary(fields) { $1 })
      continuation.yield(.response(error: response.flatMap { RichPushError($0, body: Data()) }))
    }
  }
#else
  /// Receives an event stream by `URLSession`.
  final class EventTransfer: Sendable {
    private let session: URLSession

    init(_ request: URLRequest, to continuation: EventConnection.Parts.Continuation) {
      let configuration = Connections.configuration
      configuration.timeoutIntervalForRequest = Double(EventConnection.timeout)
      session = URLSession(
        configuration: configuration, delegate: EventReceiver(continuation), delegateQueue: nil)
      session.dataTask(with: request).resume()
    }

    func cancel() { session.invalidateAndCancel() }
  }

  private final class EventReceiver: NSObject, URLSessionDataDelegate, Sendable {
    private let continuation: EventConnection.Parts.Continuation

    init(_ continuation: EventConnection.Parts.Continuation) { self.continuation = continuation }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
      continuation.yield(.response(error: RichPushError(response, body: Data())))
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
