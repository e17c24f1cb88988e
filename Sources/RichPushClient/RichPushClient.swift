public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The API of a richpush server, for a device or a publisher.
///
/// ```swift
/// var client = RichPushClient(endpoint: url, user: "alice", password: "…")
/// client.device = try await client.register(handle: deviceToken)
/// for try await event in client.events() {
///   guard let id = event.push.id else { continue }
///   let picture = try await client.media(id, options: MediaOptions(profile: "ios"))
/// }
/// ```
public struct RichPushClient: Sendable {
  /// The server's address, such as `http://127.0.0.1:8080`, without a slash at its end.
  public let endpoint: URL
  /// The user that signs in.
  public let user: String
  /// The registration's ID that `register` returned; if it is set, receipts name the device.
  public var device: String?

  private let connections = Connections()
  private let authorization: String

  /// Creates a client that signs in with a password (HTTP Basic, RFC 7617) and stores nothing on disk.
  public init(endpoint: URL, user: String, password: String) {
    let text = endpoint.absoluteString
    let withoutSlash = text.hasSuffix("/") ? URL(string: String(text.dropLast())) : nil
    self.endpoint = withoutSlash ?? endpoint
    self.user = user
    authorization = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }

  /// A request for a path; the segments are percent-encoded here.
  func request(
    _ method: String, _ segments: [String], query: [(name: String, value: String)] = [],
    json: (any Encodable)? = nil
  ) throws(RichPushError) -> URLRequest {
    let path = segments.map { "/" + $0.escapedForURL }.joined()
    let pairs = query.map { $0.name.escapedForURL + "=" + $0.value.escapedForURL }
    var request = try request(
      method,
      address: endpoint.absoluteString + path
        + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")))
    guard let json else { return request }
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    do {
      request.httpBody = try JSONCoding.encoder.encode(json)
    } catch {
      throw RichPushError(
        .malformed, "The request cannot be encoded as JSON: \(error.localizedDescription)")
    }
    return request
  }

  /// Sends a request and returns the response's body; throws an error for any status but 2xx.
  @discardableResult
  func send(_ request: URLRequest) async throws(RichPushError) -> Data {
    let (data, response) = try await transfer { try await $0.data(for: request) }
    if let error = RichPushError(response, body: data) { throw error }
    return data
  }

  /// Runs a request of the session, and converts its errors.
  func transfer<Body>(
    _ request: (URLSession) async throws -> (Body, URLResponse)
  ) async throws(RichPushError) -> (Body, URLResponse) {
    do {
      return try await request(connections.session)
    } catch {
      throw RichPushError(transfer: error, to: endpoint)
    }
  }

  /// Sends a request and decodes the response's JSON.
  func value<Value: Decodable>(_ request: URLRequest) async throws(RichPushError) -> Value {
    try JSONCoding.value(in: try await send(request))
  }

  /// A request for a URL that is already percent-encoded.
  func request(_ method: String, address: String) throws(RichPushError) -> URLRequest {
    guard let url = URL(string: address) else {
      throw RichPushError(.malformed, "\(address) is not a URL.")
    }
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.setValue(authorization, forHTTPHeaderField: "Authorization")
    if let device { request.setValue(device, forHTTPHeaderField: "Richpush-Device") }
    return request
  }
}

extension String {
  /// Percent-encodes everything but unreserved characters (RFC 3986 section 2.3).
  fileprivate var escapedForURL: String {
    let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return addingPercentEncoding(withAllowedCharacters: unreserved) ?? self
  }
}

/// A client's open connections, closed when the last copy of the client is released.
final class Connections: Sendable {
  let session: URLSession

  init() {
    session = URLSession(
      configuration: Self.configuration, delegate: ChallengeRefusal(), delegateQueue: nil)
  }

  deinit { session.finishTasksAndInvalidate() }

  /// Without cookies and cache, because a notification service extension runs for seconds in 24 MB.
  static var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.timeoutIntervalForRequest = 60
    return configuration
  }
}

/// Rejects authentication challenges, because every request already contains the password.
///
/// Without it, `URLSession` on Linux never completes a request after a 401 response, and its default
/// handling crashes. With it, the request ends as cancelled there; on Apple's systems with status 401.
private final class ChallengeRefusal: NSObject, URLSessionTaskDelegate, Sendable {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    completionHandler(.rejectProtectionSpace, nil)
  }
}
