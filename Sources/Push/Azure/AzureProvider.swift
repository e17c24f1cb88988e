import FoundationEssentials
import Synchronization

/// Azure Notification Hubs, by its REST interface.
package struct AzureProvider: PushProvider {
  private static let tokenLife: TimeInterval = 20 * 60

  let clock: any PushClock
  private let connection: AzureConnection
  private let loop: TransferLoop
  private let signature = SharedSignature()

  /// A provider for one hub.
  package init(
    connection: AzureConnection, trustAnchor: String? = nil, patience: Duration = .seconds(30),
    clock: any PushClock = SystemClock()
  ) throws(PushError) {
    self.connection = connection
    self.clock = clock
    loop = try TransferLoop(
      trustAnchor: trustAnchor, connections: capacity, patience: patience)
  }

  package var name: String { "azure" }
  package let capacity = 32
  package var governsSilentPushes: Bool { true }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    if case .device = push.target, push.target.appleToken == nil {
      return .rejected(reason: "Azure is given pushes for Apple devices only.")
    }
    do {
      return AzureVerdict.delivery(for: try await post(push), at: clock.now)
    } catch {
      return .unavailable(after: nil, reason: "Azure can't be reached: \(error.reason).")
    }
  }

  func post(_ push: OutgoingPush) async throws(TransferFailure) -> TransferResponse {
    let (query, address) =
      switch push.target {
      case .device(let handle, _): ("direct&", ("ServiceBusNotification-DeviceHandle", handle))
      case .audience(let tags): ("", ("ServiceBusNotification-Tags", tags.description))
      }
    return try await loop.send(
      TransferRequest(
        url: "\(connection.hub)/messages/?\(query)api-version=2015-04",
        fields: fields(of: push) + [address], body: push.text.json))
  }

  private func fields(of push: OutgoingPush) -> [(name: String, value: String)] {
    var fields = [
      (name: "Authorization", value: signature.text(for: connection, at: clock.now)),
      (name: "Content-Type", value: "application/json;charset=utf-8"),
      (name: "ServiceBusNotification-Format", value: "apple"),
      (name: "apns-id", value: push.id),
      (name: "apns-push-type", value: push.text.kind.rawValue),
      (name: "apns-priority", value: String(push.text.kind.priority)),
    ]
    if let expires = push.expires {
      fields.append(("ServiceBusNotification-Apns-Expiry", expires.formatted(.iso8601)))
    }
    if let collapseID = push.collapseID { fields.append(("apns-collapse-id", collapseID)) }
    return fields
  }

  /// A signature that is good for 20 minutes, made anew after ten.
  private final class SharedSignature: Sendable {
    private let current = Mutex<(text: String, expiry: Date)?>(nil)

    func text(for connection: AzureConnection, at now: Date) -> String {
      current.withLock { current in
        let left = current.map { $0.expiry.timeIntervalSince(now) } ?? 0
        if let current, left > tokenLife / 2, left <= tokenLife { return current.text }
        let expiry = now + tokenLife
        let text = connection.sharedAccessSignature(expiry: expiry)
        current = (text, expiry)
        return text
      }
    }
  }
}
