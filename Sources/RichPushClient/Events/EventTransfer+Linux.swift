#if canImport(FoundationNetworking)
  import CCurl
  import Foundation
  import FoundationNetworking
  import Synchronization

  /// Passes on what libcurl receives, at once and unbuffered, on a thread of its own.
  ///
  /// `URLSession` on Linux spins a core for as long as an answer is open: it never stops asking
  /// whether it could write.
  final class EventTransfer: Sendable {
    private let request: URLRequest
    private let continuation: AsyncThrowingStream<EventConnection.Part, any Error>.Continuation
    private let head = Mutex<[String]>([])
    private let isCancelled = Atomic(false)

    init(
      _ request: URLRequest,
      to continuation: AsyncThrowingStream<EventConnection.Part, any Error>.Continuation
    ) {
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
        (CURLOPT_LOW_SPEED_TIME, EventConnection.patience),
      ] { _ = ccurl_set_number(handle, option, value) }
      ccurl_set_socket_habits(handle)
      // Unretained: `perform` ends before `self` does.
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
      transfer(context)?.take(line.trimmingCharacters(in: .newlines))
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

    /// Collects the head of the answer; an empty line ends it, and one with 1xx is not the last.
    private func take(_ line: String) {
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
      continuation.yield(
        .answer(
          status: status, error: response.flatMap { RichPushError($0, body: Data()) }))
    }
  }
#endif
