#if !canImport(Darwin)
  import CCurl
  import FoundationEssentials
  import Glibc
  import Primitives
  import Synchronization

  /// Sends requests by libcurl, each on a thread of its own; connections are kept for later requests.
  ///
  /// `URLSession` on Linux occupies a processor while a response is open, because it polls whether it could
  /// write, and never completes a request after a 401 response.
  final class HTTPTransport: Sendable {
    private let idle = Mutex<[CurlHandle]>([])
    /// Where downloads are.
    private let folder: URL

    init(folder: URL = FileManager.default.temporaryDirectory) { self.folder = folder }

    /// The response and its body.
    func data(for request: HTTPRequest) async throws -> (Data, HTTPResponse) {
      var data = Data()
      let response = try await receive(request) { data += $0 }
      return (data, response)
    }

    /// The response and its body in a temporary file.
    func download(_ request: HTTPRequest) async throws -> (URL, HTTPResponse) {
      let url = folder.appending(path: UUID().uuidString)
      let file = try FileDescriptor(url.path, O_WRONLY | O_CREAT | O_EXCL)
      do {
        return (url, try await receive(request) { try file.write(Array($0)) })
      } catch {
        try? FileManager.default.removeItem(at: url)
        throw error
      }
    }

    private func receive(
      _ request: HTTPRequest, _ body: (Data) throws -> Void
    ) async throws -> HTTPResponse {
      var response: HTTPResponse?
      for try await part in parts(of: request, buffering: .unbounded) {
        switch part {
        case .head(let head): response = head
        case .bytes(let piece): try body(piece)
        }
      }
      // The parts end early, and without an error, when the task is cancelled.
      try Task.checkCancellation()
      guard let response else { throw CancellationError() }
      return response
    }

    /// The parts of the response as they arrive; a slower reader is disconnected.
    func parts(
      of request: HTTPRequest, buffering: ResponseParts.Continuation.BufferingPolicy
    ) -> ResponseParts {
      let (parts, continuation) = ResponseParts.makeStream(bufferingPolicy: buffering)
      let handle = idle.withLock { $0.popLast() } ?? CurlHandle()
      let transfer = HTTPTransfer(request, handle, to: continuation)
      continuation.onTermination = { _ in transfer.cancel() }
      DetachedThread.start(named: "http-request") { [self] in
        do {
          try transfer.perform()
          idle.withLock { if $0.count < 6 { $0.append(handle) } }
          continuation.finish()
        } catch { continuation.finish(throwing: error) }
      }
      return parts
    }

    /// The time of an HTTP date (RFC 9110 section 5.6.7); nil for another text.
    static func date(_ text: String) -> Date? {
      guard text.hasSuffix("GMT") else { return nil }
      let time = curl_getdate(text, nil)
      return time < 0 ? nil : Date(timeIntervalSince1970: Double(time))
    }

    /// Why a transfer has failed, for people.
    static func cause(of error: any Error) -> String { "\(error)" }
  }

  /// A libcurl handle.
  // Unchecked: it is used by one thread at a time, the one that took it out of the list.
  final class CurlHandle: @unchecked Sendable {
    /// Nil if there is no memory, which makes every call fail.
    let pointer = curl_easy_init()

    deinit { ccurl_free(pointer) }
  }
#endif
