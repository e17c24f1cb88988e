@_exported public import RichPushAPI

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The API of a richpush server, for a device or a publisher.
///
/// A client that signs in with a password gets a token for its `device` when it first needs one, and another if the
/// server rejects that: the device's own requests are then much cheaper for the server.
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

  /// The languages that texts are wanted in, the best first; the device's own by default.
  public var languages = RichPushClient.preferredLanguages

  var transport = HTTPTransport()
  /// Waits before a stream of events connects again.
  var wait: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// The value of `Authorization` for a password (HTTP Basic, RFC 7617); nil if the client has none.
  let basic: String?
  let tokens: DeviceTokens

  /// Creates a client that signs in with a password and stores nothing on disk.
  public init(endpoint: URL, user: String, password: String) {
    self.endpoint = endpoint.withoutSlash
    self.user = user
    basic = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    tokens = DeviceTokens()
  }

  /// Creates a client with the token of a device (``deviceToken()``), for a part of an app that must not know the
  /// password, such as a notification service extension.
  ///
  /// It has the rights of that device only.
  public init(endpoint: URL, user: String, device: String, token: String) {
    self.endpoint = endpoint.withoutSlash
    self.user = user
    self.device = device
    basic = nil
    tokens = DeviceTokens([device: token])
  }

  /// Asks whether the server responds, without signing in, and for 5 seconds at most if it is silent.
  ///
  /// ```swift
  /// try await client.ping()
  /// ```
  public func ping() async throws {
    var request = try request("GET", ["healthz"])
    request.timeout = 5
    let (_, response) = try await attempt(request, transport.data)
    if let error = RichPushError(response) { throw error }
  }

  /// What the server warns its operator of, a sentence each, such as that its TLS certificate expires soon; without
  /// signing in.
  ///
  /// - Throws: An error if the server is not ready.
  ///
  /// ```swift
  /// for warning in try await client.warnings() { print(warning) }
  /// ```
  public func warnings() async throws -> [String] {
    var request = try request("GET", ["readyz"])
    request.timeout = 5
    let (body, response) = try await attempt(request, transport.data)
    if let error = RichPushError(response) { throw error }
    return String(decoding: body, as: UTF8.self).split(separator: "\n").dropFirst().map(String.init)
  }

  /// A request for a path; the segments are percent-encoded here.
  func request(
    _ method: String, _ segments: [String], query: [(name: String, value: String)] = [],
    json: (any Encodable)? = nil
  ) throws(RichPushError) -> HTTPRequest {
    let path = segments.map { "/" + $0.escapedForURL }.joined()
    let pairs = query.map { $0.name.escapedForURL + "=" + $0.value.escapedForURL }
    var request = try request(
      method, address: path + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")))
    if let json {
      request.fields["Content-Type"] = "application/json"
      request.body = .data(Data(JSONCoding.encode(json)))
    }
    return request
  }

  /// A request for a path and a query that are already percent-encoded.
  func request(_ method: String, address: String) throws(RichPushError) -> HTTPRequest {
    guard let url = URL(string: endpoint.absoluteString + address) else {
      throw RichPushError(.malformed, "\(endpoint.absoluteString)\(address) is not a URL.")
    }
    var request = HTTPRequest(method: method, url: url, fields: [:])
    if let device { request.fields["Richpush-Device"] = device }
    if !languages.isEmpty {
      request.fields["Accept-Language"] = languages.prefix(8).joined(separator: ", ")
    }
    if method == "POST" || method == "PUT" { request.body = .data(Data()) }
    return request
  }

  /// Sends a request and returns the response's body; throws an error for any status but 2xx.
  @discardableResult
  func send(
    _ request: HTTPRequest, as sender: Sender = .user
  ) async throws(RichPushError) -> Data {
    let (data, response) = try await perform(request, as: sender, transport.data)
    if let error = RichPushError(response, body: data) { throw error }
    return data
  }

  /// Sends a request of the device and saves the response's body in a temporary file.
  func download(_ request: HTTPRequest) async throws(RichPushError) -> MediaFile {
    let (file, response) = try await perform(request, as: .device, transport.download)
    // A problem document is small; a body that is none can be large.
    let start = { try? Data(contentsOf: file, options: .alwaysMapped).prefix(65_536) }
    guard let error = RichPushError(response, body: start() ?? Data()) else {
      return MediaFile(url: file, response: response)
    }
    try? FileManager.default.removeItem(at: file)
    throw error
  }

  /// Sends a request and decodes the response's JSON.
  func value<Value: Decodable>(
    _ request: HTTPRequest, as sender: Sender = .user
  ) async throws(RichPushError) -> Value {
    let body = try await send(request, as: sender)
    do {
      return try JSONCoding.decode(from: body)
    } catch {
      throw RichPushError(.malformed, "The server's response is not as expected. \(error.reason)")
    }
  }
}

extension URL {
  fileprivate var withoutSlash: URL {
    let text = absoluteString
    return (text.hasSuffix("/") ? URL(string: String(text.dropLast())) : nil) ?? self
  }
}

extension String {
  /// Percent-encodes everything but unreserved characters (RFC 3986 section 2.3).
  fileprivate var escapedForURL: String {
    let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8
    return utf8.map { byte in
      unreserved.contains(byte)
        ? String(Unicode.Scalar(byte))
        : (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }
}
