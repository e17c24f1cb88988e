import FoundationEssentials
import Primitives
import Synchronization

/// A notification hub, through its REST API.
package final class AzureHub: Sendable {
  /// How long a signature is valid; a new one is made at half of it.
  private static let signatureLife: TimeInterval = 20 * 60
  /// The most requests that may be under way at once.
  static let capacity = 32

  let now: @Sendable () -> Date
  private let connection: AzureConnection
  private let client: CurlClient
  private let signature = Mutex<(text: String, expiry: Date)?>(nil)

  init(
    _ connection: AzureConnection, trustAnchor: String?, timeout: Duration,
    now: @escaping @Sendable () -> Date
  ) throws(PushError) {
    (self.connection, self.now) = (connection, now)
    client = try CurlClient(
      .init(trustAnchor: trustAnchor, connections: Self.capacity, timeout: timeout))
  }

  /// Identifies the hub and the key; no secret.
  var settings: String { Signing.identifier(of: connection.hub, connection.keyName) }

  /// Posts a notification in one of the hub's formats to a device, or to those that the hub has for tags.
  func post(
    _ body: [UInt8], as format: AzureFormat, _ fields: [(name: String, value: String)],
    to target: OutgoingPush.Target
  ) async throws(ServiceFailure) -> ServiceResponse {
    let (query, address) =
      switch target {
      case .device(let handle, _), .subscription(let handle, _):
        ("direct&", ("ServiceBusNotification-DeviceHandle", handle))
      case .audience(let tags): ("", ("ServiceBusNotification-Tags", tags.description))
      }
    let common = [
      (name: "Authorization", value: currentSignature()),
      (name: "Content-Type", value: "application/json;charset=utf-8"),
      (name: "ServiceBusNotification-Format", value: format.name),
    ]
    let request = ServiceRequest(
      url: "\(connection.hub)/messages/?\(query)api-version=\(format.version)",
      fields: common + fields + [address], body: body)
    return try await client.send(request).get()
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

/// A format of a hub's notifications, each for the devices of one platform.
package struct AzureFormat: Sendable {
  let name: String
  /// The version of the REST API that has it.
  let version: String
}

extension PushOutcome {
  /// Interprets a response of Azure Notification Hubs.
  init(azure response: ServiceResponse, at now: Date) {
    let after = response.retryAfter(at: now)
    let text = "Azure answered \(response.status): \(Self.detail(of: response))"
    self =
      switch response.status {
      case 200, 201: .delivered(reference: Self.reference(in: response))
      case 401:
        .laneStopped(reason: text + " Check the connection string and the machine's clock.")
      case 400 where text.lowercased().contains("no target applications"):
        .laneStopped(reason: text + " The hub needs credentials for this format.")
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
