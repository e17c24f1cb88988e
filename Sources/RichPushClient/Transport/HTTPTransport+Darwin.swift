#if canImport(Darwin)
  import Foundation

  /// Sends requests by `URLSession`; its connections close when the last copy of its client is released.
  final class HTTPTransport: Sendable {
    private let session = URLSession(configuration: HTTPTransport.configuration)

    deinit { session.finishTasksAndInvalidate() }

    /// Without cookies and cache, because a notification service extension runs for seconds in 24 MB.
    static var configuration: URLSessionConfiguration {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = nil
      configuration.httpCookieStorage = nil
      return configuration
    }

    /// The response and its body.
    func data(for request: HTTPRequest) async throws -> (Data, HTTPResponse) {
      let (data, response) =
        if case .file(let file) = request.body {
          try await session.upload(for: URLRequest(request), fromFile: file)
        } else {
          try await session.data(for: URLRequest(request))
        }
      return (data, HTTPResponse(response))
    }

    /// The response and its body in a temporary file.
    func download(_ request: HTTPRequest) async throws -> (URL, HTTPResponse) {
      let (file, response) = try await session.download(for: URLRequest(request))
      return (file, HTTPResponse(response))
    }

    /// The parts of the response as they arrive; a slower reader is disconnected.
    func parts(
      of request: HTTPRequest, buffering: ResponseParts.Continuation.BufferingPolicy
    ) -> ResponseParts {
      let (parts, continuation) = ResponseParts.makeStream(bufferingPolicy: buffering)
      let session = URLSession(
        configuration: Self.configuration, delegate: PartReceiver(continuation), delegateQueue: nil)
      continuation.onTermination = { _ in session.invalidateAndCancel() }
      session.dataTask(with: URLRequest(request)).resume()
      return parts
    }

    /// The time of an HTTP date (RFC 9110 section 5.6.7); nil for another text.
    static func date(_ text: String) -> Date? {
      let format = DateFormatter()
      format.locale = Locale(identifier: "en_US_POSIX")
      format.timeZone = TimeZone(secondsFromGMT: 0)
      format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
      return format.date(from: text)
    }

    /// Why a transfer has failed, for people.
    static func cause(of error: any Error) -> String { error.localizedDescription }
  }

  extension URLRequest {
    fileprivate init(_ request: HTTPRequest) {
      self.init(url: request.url, timeoutInterval: Double(request.timeout))
      httpMethod = request.method
      for (name, value) in request.fields { setValue(value, forHTTPHeaderField: name) }
      if case .data(let data) = request.body { httpBody = data }
    }
  }

  extension HTTPResponse {
    fileprivate init(_ response: URLResponse) {
      let response = response as? HTTPURLResponse
      let fields = (response?.allHeaderFields ?? [:]).map { ("\($0)".lowercased(), "\($1)") }
      self.init(status: response?.statusCode ?? 0, fields: Dictionary(fields) { $1 })
    }
  }

  private final class PartReceiver: NSObject, URLSessionDataDelegate, Sendable {
    private let parts: ResponseParts.Continuation

    init(_ parts: ResponseParts.Continuation) { self.parts = parts }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
      parts.yield(.head(HTTPResponse(response)))
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      if case .dropped = parts.yield(.bytes(data)) { dataTask.cancel() }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      parts.finish(throwing: error)
    }
  }
#endif
