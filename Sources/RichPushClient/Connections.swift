import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The connections a client keeps open, closed when the last copy of the client is gone.
final class Connections: Sendable {
  let session: URLSession

  init() {
    session = URLSession(
      configuration: Self.configuration, delegate: ChallengeRefusal(), delegateQueue: nil)
  }

  deinit { session.finishTasksAndInvalidate() }

  /// Neither cookies nor a cache: a phone's extension lives for seconds and has 24 MB.
  static var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.timeoutIntervalForRequest = 60
    return configuration
  }
}

/// Answers a 401 with "no other password": every request has brought its password already.
///
/// Without this `URLSession` on Linux never comes back from a 401; with it, it reports the request as
/// cancelled, where Apple's reports the 401 itself. Its default handling crashes there.
private final class ChallengeRefusal: NSObject, URLSessionTaskDelegate, Sendable {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    completionHandler(.rejectProtectionSpace, nil)
  }
}
