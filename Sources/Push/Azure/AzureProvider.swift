package import FoundationEssentials

/// Azure Notification Hubs, for Apple's devices: those that are registered here, and those that the hub has.
package struct AzureProvider: AzureService {
  package static let name = "azure"
  package static let traits = PushTraits(
    platforms: [.apple], largestPayload: PushPayload.limit, profile: "ios",
    limitsSilentPushes: true, resolvesTags: true)
  package static let format = PayloadFormat.apple
  package static let hubFormat = AzureFormat(name: "apple", version: "2015-04")

  package let hub: AzureHub

  /// A provider for one hub.
  package init(
    connection: AzureConnection, trustAnchor: String? = nil, timeout: Duration = .seconds(30),
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws(PushError) {
    hub = try AzureHub(connection, trustAnchor: trustAnchor, timeout: timeout, now: now)
  }

  /// The provider of `--push azure`.
  package init(
    _ settings: AzureConnection, trustAnchor: String?, now: @escaping @Sendable () -> Date
  ) throws(PushError) {
    try self.init(connection: settings, trustAnchor: trustAnchor, now: now)
  }

  package static func problem(with target: OutgoingPush.Target) -> String? {
    target.appleToken == nil ? "Only pushes to Apple devices are sent through Azure." : nil
  }

  package func message(
    of push: OutgoingPush
  ) -> (fields: [(name: String, value: String)], body: [UInt8])? {
    var fields = [
      (name: "apns-id", value: push.id), (name: "apns-push-type", value: push.text.kind.rawValue),
      (name: "apns-priority", value: push.applePriority),
    ]
    if let expires = push.expires {
      fields.append(("ServiceBusNotification-Apns-Expiry", expires.formatted(.iso8601)))
    }
    if let collapseID = push.collapseID { fields.append(("apns-collapse-id", collapseID)) }
    return (fields, Array(push.text.json.utf8))
  }

  package func probe(to target: OutgoingPush.Target) -> OutgoingPush { .probe(to: target) }
}
