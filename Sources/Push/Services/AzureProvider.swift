package import FoundationEssentials
import Primitives
import Synchronization

/// Azure Notification Hubs, through its REST API.
package final class AzureProvider: ConfiguredPushService {
  package static let name = "azure"
  package static let traits = PushTraits(
    platforms: [.apple], largestPayload: PushPayload.limit, profile: "ios",
    limitsSilentPushes: true, resolvesTags: true)
  package static let format = PayloadFormat.apple

  /// How long a signature is valid; a new one is made at half of it.
  private static let signatureLife: TimeInterval = 20 * 60

  let now: @Sendable () -> Date
  private let connection: AzureConnection
  private let client: CurlClient
  private let signature = Mutex<(text: String, expiry: Date)?>(nil)

  /// A provider for one hub.
  package init(
    connection: AzureConnection, trustAnchor: String? = nil, timeout: Duration = .seconds(30),
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws(PushError) {
    (self.connection, self.now) = (connection, now)
    client = try CurlClient(
      .init(trustAnchor: trustAnchor, connections: capacity, timeout: timeout))
  }

  /// The provider of `--push azure`.
  package convenience init(
    _ settings: AzureConnection, trustAnchor: String?, now: @escaping @Sendable () -> Date
  ) throws(PushError) {
    try self.init(connection: settings, trustAnchor: trustAnchor, now: now)
  }

  package var settings: String { Signing.identifier(of: connection.hub, connection.keyName) }
  package let capacity = 32

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    let isAudience = if case .audience = push.target { true } else { false }
    guard isAudience || push.target.appleToken != nil else {
      return .rejected(reason: "Only pushes to Apple devices are sent through Azure.")
    }
    do {
      return PushOutcome(azure: try await post(push), at: now())
    } catch {
      return .unavailable(after: nil, reason: "Azure can't be reached: \(error.reason).")
    }
  }

  func post(_ push: OutgoingPush) async throws(ServiceFailure) -> ServiceResponse {
    let (query, address) =
      switch push.target {
      case .device(let handle, _), .subscription(let handle, _):
        ("direct&", ("ServiceBusNotification-DeviceHandle", handle))
      case .audience(let tags): ("", ("ServiceBusNotification-Tags", tags.description))
      }
    let request = ServiceRequest(
      url: "\(connection.hub)/messages/?\(query)api-version=2015-04",
      fields: fields(of: push) + [address], body: push.text.json)
    return try await client.send(request).get()
  }

  private func fields(of push: OutgoingPush) -> [(name: String, value: String)] {
    var fields = [
      (name: "Authorization", value: currentSignature()),
      (name: "Content-Type", value: "application/json;charset=utf-8"),
      (name: "ServiceBusNotification-Format", value: "apple"),
      (name: "apns-id", value: push.id),
      (name: "apns-push-type", value: push.text.kind.rawValue),
      (name: "apns-priority", value: push.applePriority),
    ]
    if let expires = push.expires {
      fields.append(("ServiceBusNotification-Apns-Expiry", expires.formatted(.iso8601)))
    }
    if let collapseID = push.collapseID { fields.append(("apns-collapse-id", collapseID)) }
    return fields
  }

  /// The signature that requests share until it is half used up, or the clock was set back.
  private func currentSignature() -> String {
    let now = self.now()
    return signature.withLock { current in
      let left = current.map { $0.expiry.timeIntervalSince(now) } ?? 0
      if let current, left > Self.signatureLife / 2, left <= Self.signatureLife {
        return current.text
      }
      let expiry = now + Self.signatureLife
      let text = connection.sharedAccessSignature(expiry: expiry)
      current = (text, expiry)
      return text
    }
  }
}

extension PushOutcome {
  /// Interprets a response of Azure Notification Hubs.
  fileprivate init(azure response: ServiceResponse, at now: Date) {
    let after = response.retryAfter(at: now)
    let text = "Azure answered \(response.status): \(Self.detail(of: response))"
    self =
      switch response.status {
      case 200, 201: .delivered(reference: Self.reference(in: response))
      case 401:
        .laneStopped(reason: text + " Check the connection string and the machine's clock.")
      // Azure also throttles with 403, and then sends Retry-After.
      case 403 where after == nil:
        .laneStopped(
          reason: text + " The key needs the right to send, or the hub's quota is used up.")
      case 300..<400, 404:
        .laneStopped(reason: text + " Check the namespace and the hub's name.")
      case 403, 408, 429, 500...: .unavailable(after: after, reason: text)
      default: .rejected(reason: text)
      }
  }

  /// The text of `<Detail>` in an error, or the beginning of the body.
  private static func detail(of response: ServiceResponse) -> String {
    let text = response.text
    guard let start = text.firstRange(of: "<Detail>"), let end = text.firstRange(of: "</Detail>"),
      start.upperBound <= end.lowerBound
    else { return ServiceResponse.line(text) }
    return ServiceResponse.line(text[start.upperBound..<end.lowerBound])
  }

  /// The message's id at the end of `Location: https://…/messages/<id>?api-version=…`.
  private static func reference(in response: ServiceResponse) -> String? {
    guard let location = response.field("location") else { return nil }
    return location.prefix { $0 != "?" }.split(separator: "/").last.map(String.init)
  }
}

extension AzureProvider {
  /// Sends a push to a tag that no device has.
  package func check() async -> [PushFinding] {
    do {
      let tag = try Tag("richpush-check-" + UUID().uuidString)
      let push = OutgoingPush.probe(to: .audience(try TagExpression(anyOf: [tag])))
      let response = try await post(push)
      let now = self.now()
      let skew = ClockSkew.finding(service: name, response: response, at: now)
      let finding = PushFinding(
        service: name, PushOutcome(azure: response, at: now),
        isGood: "The hub takes pushes with this key.")
      return [finding, skew].compactMap(\.self)
    } catch {
      return [PushFinding(service: name, isGood: false, sentence: "\(error)")]
    }
  }
}

/// The address and the key of a notification hub, from the portal's connection string.
package struct AzureConnection: Sendable, Equatable {
  /// `https://<namespace>/<hub>`, without a slash at its end.
  let hub: String
  let keyName: String
  let key: String

  /// Parses `Endpoint=sb://…/;SharedAccessKeyName=…;SharedAccessKey=…`; in any order.
  package init(connectionString: String, hub: String) throws(PushError) {
    var parts: [String: String] = [:]
    for part in connectionString.split(separator: ";") {
      guard let equals = part.firstIndex(of: "=") else {
        throw Self.malformed("\"Name=value\" parts separated by \";\" were expected")
      }
      let name = part[..<equals].lowercased().filter { !$0.isWhitespace }
      parts[name] = String(part[part.index(after: equals)...])
    }
    func part(_ name: String, _ form: String) throws(PushError) -> String {
      guard let text = parts[name.lowercased()], !text.isEmpty else {
        throw Self.malformed("the part \"\(name)=\(form)\" is missing")
      }
      return text
    }
    let endpoint = try part("Endpoint", "sb://…")
    guard let scheme = endpoint.firstRange(of: "://") else {
      throw Self.malformed("the part \"Endpoint=sb://…\" is missing")
    }
    let keyName = try part("SharedAccessKeyName", "…")
    let key = try part("SharedAccessKey", "…")
    let host = endpoint[scheme.upperBound...].prefix { $0 != "/" }
    let isNamed =
      !hub.isEmpty
      && hub.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    guard !host.isEmpty, isNamed else {
      throw Self.malformed("the host or the hub's name \"\(hub)\" is not valid in an address")
    }
    (self.hub, self.keyName, self.key) = ("https://\(host)/\(hub)", keyName, key)
  }

  /// The value of an `Authorization` field that is valid for the hub until `expiry`.
  ///
  /// The HMAC's key is the text of the key: it is not decoded, although it looks like Base64.
  func sharedAccessSignature(expiry: Date) -> String {
    let resource = PercentEncoding.encode(hub.lowercased())
    let seconds = Int(expiry.timeIntervalSince1970)
    let code = Signing.hmac(key: Array(key.utf8), Array("\(resource)\n\(seconds)".utf8))
    let signature = PercentEncoding.encode(Signing.base64(code))
    return "SharedAccessSignature sr=\(resource)&sig=\(signature)&se=\(seconds)"
      + "&skn=\(PercentEncoding.encode(keyName))"
  }

  private static func malformed(_ problem: String) -> PushError {
    PushError(.configuration, "The connection string can't be read: \(problem).")
  }
}

extension AzureConnection: PushServiceSettings {
  package static let variables: KeyValuePairs = [
    "RICHPUSH_AZURE_HUB": "azure: the notification hub's name",
    "RICHPUSH_AZURE_CONNECTION_STRING": "azure: the connection string as the portal shows it",
    "RICHPUSH_AZURE_CONNECTION_STRING_FILE": "azure: a file with the connection string",
  ]

  package init(_ settings: EnvironmentSettings) throws(PushError) {
    let name = "RICHPUSH_AZURE_CONNECTION_STRING"
    let text = try settings.secret(name, "the hub's access policy shows it in the portal")
    let hub = try settings.required("RICHPUSH_AZURE_HUB", "the notification hub's name")
    self = try settings.naming(name, try AzureConnection(connectionString: text, hub: hub))
  }
}
