public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A richpush server as one user sees it: what a phone asks for, and what a publisher sends.
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
  /// The user every request speaks for.
  public let user: String
  /// The registration of this device, as `register` gave it: then receipts name the device, too.
  public var device: String?

  private let connections = Connections()
  private let authorization: String

  var session: URLSession { connections.session }

  /// A client that asks with the user's password (HTTP Basic, RFC 7617) and keeps nothing on disk.
  public init(endpoint: URL, user: String, password: String) {
    self.endpoint = endpoint.absoluteString.hasSuffix("/") ? endpoint.withoutSlash : endpoint
    self.user = user
    authorization = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }

  /// A request to a path whose segments are escaped here, each by itself.
  func request(
    _ method: String, _ segments: [String], query: [(name: String, value: String)] = [],
    json: (any Encodable)? = nil
  ) throws(RichPushError) -> URLRequest {
    var request = try request(method, address: address(segments, query: query))
    guard let json else { return request }
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    do {
      request.httpBody = try JSONCoding.encoder.encode(json)
    } catch {
      throw RichPushError(
        .malformed, "The request cannot be written as JSON: \(error.localizedDescription)")
    }
    return request
  }

  /// Sends a small request and gives the answer's body; every other status than 2xx is thrown.
  @discardableResult
  func send(_ request: URLRequest) async throws(RichPushError) -> Data {
    let data: Data
    let response: URLResponse
    do {
      (data, response) = try await session.data(for: request)
    } catch {
      throw RichPushError(transfer: error, to: endpoint)
    }
    if let error = RichPushError(response, body: data) { throw error }
    return data
  }

  /// Sends a small request and reads the answer as JSON.
  func value<Value: Decodable>(_ request: URLRequest) async throws(RichPushError) -> Value {
    try JSONCoding.value(in: try await send(request))
  }

  /// A request to an address that is escaped already.
  func request(_ method: String, address: String) throws(RichPushError) -> URLRequest {
    guard let url = URL(string: address) else {
      throw RichPushError(.malformed, "\(address) is no address.")
    }
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.setValue(authorization, forHTTPHeaderField: "Authorization")
    if let device { request.setValue(device, forHTTPHeaderField: "Richpush-Device") }
    return request
  }

  private func address(_ segments: [String], query: [(name: String, value: String)]) -> String {
    let path = segments.map { "/" + $0.escapedForURL }.joined()
    let pairs = query.map { $0.name.escapedForURL + "=" + $0.value.escapedForURL }
    return endpoint.absoluteString + path
      + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
  }
}

extension URL {
  fileprivate var withoutSlash: URL { URL(string: String(absoluteString.dropLast())) ?? self }
}

extension String {
  /// Escaped as RFC 3986 section 2.3 has it: what is not unreserved, also `/`, `+` and `%`.
  fileprivate var escapedForURL: String {
    let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return addingPercentEncoding(withAllowedCharacters: unreserved) ?? self
  }
}
